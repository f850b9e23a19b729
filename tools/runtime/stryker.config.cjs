'use strict';
const { globSync } = require('node:fs');
const { basename, dirname } = require('node:path');

// The unit tests in the folder of a mutated file. Those named after the file run first: they are fast and kill most mutants.
const mutated = globSync(process.argv.slice(process.argv.indexOf('--mutate') + 1).flatMap((paths) => paths.split(',')));
const testFiles = mutated.flatMap((file) => {
  const tests = globSync(`${dirname(file)}/**/*.test.ts`, { exclude: (path) => path.endsWith('.slow.test.ts') });
  const isNamedAfter = (test) => basename(test).startsWith(`${basename(file, '.ts')}.`);
  return tests.sort((a, b) => isNamedAfter(b) - isNamedAfter(a));
});

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
module.exports = {
  testRunner: 'tap',
  tap: {
    testFiles: [...new Set(testFiles)],
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
  disableTypeChecks: false,
  // Stryker would read tsconfig.json with TypeScript's JavaScript API, which TypeScript 7 does not have.
  tsconfigFile: 'none',
};
