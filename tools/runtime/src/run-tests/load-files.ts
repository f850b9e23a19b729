import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Loads test files as `node --test --test-isolation=none` does: no test starts before the last file is loaded, and a file that cannot be
 * loaded is a failed test.
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
