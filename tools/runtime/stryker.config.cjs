'use strict';
const { globSync } = require('node:fs');
const { dirname } = require('node:path');

/** Runs the unit tests in the folders of the mutated files. Tests of other folders kill few mutants more and take minutes. */
const mutated = globSync(process.argv.slice(process.argv.indexOf('--mutate') + 1).flatMap((paths) => paths.split(',')));
const tests = mutated.map((file) => `${dirname(file)}/**/!(*.slow).test.ts`);

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
module.exports = {
  testRunner: 'tap',
  tap: {
    testFiles: [...new Set(tests)],
    nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
  },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  thresholds: { high: 95, low: 90, break: 90 },
  timeoutMS: 60_000,
  timeoutFactor: 5,
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { logTests: false, reportTests: false },
  tempDirName: 'dist/stryker',
  ignorePatterns: ['dist'],
  // Stryker rewrites references in a tsconfig file with TypeScript's JavaScript API, which TypeScript 7 does not have.
  tsconfigFile: 'none',
};
