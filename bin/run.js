#!/usr/bin/env node
'use strict';

// Old syntax on purpose: a Node that is too old has to get as far as this message.
var version = process.versions.node.split('.').map(Number);

var isOld = version[0] < 20 || (version[0] === 20 && version[1] < 19);

if (isOld && process.argv[2] === 'hook') {
  // A hook never fails the assistant: "steward hooks status" tells of it.
  process.exitCode = 0;
} else if (isOld) {
  process.stderr.write(
    'steward needs Node.js 20.19 or newer; this is ' +
      process.versions.node +
      '.\n' +
      'Install a newer one from https://nodejs.org or with your version manager, then run it again.\n',
  );
  process.exitCode = 8;
} else {
  // What `require` does, without its search for a file that is known: every run would wait 1 ms for it.
  var path = require('path').join(__dirname, '..', 'dist', 'main.js');
  var text;
  try {
    text = require('fs').readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  if (text !== undefined) {
    var main = new module.constructor(path, module);
    main.filename = path;
    main.paths = module.paths;
    main._compile(text, path);
  } else if (process.argv[2] !== 'hook') {
    process.stderr.write(
      'steward is not built yet: ' + path + ' is missing.\nRun "npm ci" and "npm run build" in its folder.\n',
    );
    process.exitCode = 8;
  }
}
