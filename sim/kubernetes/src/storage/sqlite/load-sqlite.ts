import type * as Sqlite from 'node:sqlite';

/**
 * `node:sqlite`, without the warning that Node 24 prints for it: the person at the terminal can do nothing about it. Loaded only by
 * those who keep data.
 */
export const loadSqlite = async (): Promise<typeof Sqlite> => {
  const { emitWarning } = process;
  const isAboutSqlite = (warning: string | Error): boolean => /sqlite/i.test(String(warning));
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!isAboutSqlite(warning)) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return await import('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
};
