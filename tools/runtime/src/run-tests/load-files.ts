import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Loads test files as `node --test --test-isolation=none` does: no test begins before the last file is loaded, and a file that cannot be is
 * a failed test of its own.
 */
export const loadFiles = async (files: readonly string[]): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  before(() => promise);
  for (const file of files)
    try {
      await import(pathToFileURL(file).href);
    } catch (error) {
      void test(`${file} can be loaded`, () => {
        throw error;
      });
    }
  resolve();
};
