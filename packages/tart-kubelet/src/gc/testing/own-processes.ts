import { createProcessTable, type ProcessTable } from '@tartan/tart';

type Environment = Readonly<Record<string, string | undefined>>;

/** The processes of the Mac in `folder`. Filters out the `tart` processes of other tests on this machine. */
export const ownProcesses = (folder: string, environment: Environment): ProcessTable => {
  const table = createProcessTable(environment);
  return { ...table, list: async () => (await table.list()).filter(({ command }) => command.includes(folder)) };
};
