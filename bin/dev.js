#!/usr/bin/env node
'use strict';

// tsx has two halves: one for require, one for import().
require('tsx/cjs');
import('tsx/esm/api')
  .then(({ register }) => register())
  .then(() => require('../src/dev.ts').startFromSource(process.argv.slice(2)));
