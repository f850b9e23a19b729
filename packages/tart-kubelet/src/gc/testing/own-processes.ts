import { createProcessTable, type ProcessTable } from '@tartan/tart';

type Environment = Readonly<Record<string, string | undefined>>;

/** The processes of the Mac in `folder`. A real Mac has its processes to itself; here other tests run their own `tart` beside it. */
export const ownProcesses = (folder: string, environment: Environment): ProcessTable => {
  const table = createProcessTable(environment);
  return { ...table, list: async () => (await table.list()).filter(({ command }) => command.includes(folder)) };
};
