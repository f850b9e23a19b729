'use strict';
const { globSync } = require('node:fs');
const { dirname, resolve } = require('node:path');

// Runs the tests in TESTS, or else the tests with the name of a mutated file, or else all unit tests in its folder: with all tests of a
// package a run takes hours. FILE.test.ts runs before FILE.property.test.ts, whose failures take long to shrink.
const paths = process.argv.slice(process.argv.indexOf('--mutate') + 1).flatMap((argument) => argument.split(','));
const mutated = globSync(paths.map((path) => path.replace(/:\d+-\d+$/, '')));
const testsOf = (file) => {
  const own = globSync(`${file.slice(0, -'.ts'.length)}.*test.ts`).sort((a, b) => a.length - b.length);
  return own.length > 0 ? own : globSync(`${dirname(file)}/*.test.ts`);
};
const testFiles = process.env.TESTS?.split(',') ?? mutated.flatMap(testsOf);

// Each mutant starts a process, which would strip the types of all modules again.
process.env.NODE_COMPILE_CACHE ??= resolve('dist/stryker/compile-cache');

module.exports = {
  testRunner: 'tap',
  tap: {
    testFiles: testFiles.filter((file) => !file.endsWith('.slow.test.ts')),
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
