import { runInOwnGroup } from './own-group.ts';

const within = 'within its own group';

/**
 * What the module of a batch does. It is run twice: by node's test runner, and from there in a process group of its own. Node's runner
 * knows the batch by the path of its module, and so that is what is run there as well.
 */
export const runBatch = async (
  module: string,
  { files, options }: { readonly files: readonly string[]; readonly options: readonly string[] },
): Promise<void> => {
  if (process.argv[2] !== within) return runInOwnGroup([...options, module, within]);
  // Much of what tests start is in groups of its own, and ended by whoever started it on its way out.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  // Only here: who loads node:test tells of tests.
  const { loadFiles } = await import('./load-files.ts');
  await loadFiles(files);
};
