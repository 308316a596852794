#!/usr/bin/env node
'use strict';

require('tsx/cjs');
require('../src/dev.ts').startFromSource(process.argv.slice(2));
