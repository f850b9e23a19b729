/** Groups of jobs that run now, of all Macs in this process. */
const groups = new Set<number>();

/** Ends what is in a process group; a process that made itself a session is not in it, and lives on. */
export const killGroup = (group: number): void => {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
};

const killAllGroups = (): void => {
  for (const group of groups) killGroup(group);
};

/** A run of tests that ends without stopping its Macs leaves no job behind. The returned function takes that back. */
export const killGroupAtExit = (group: number): (() => void) => {
  groups.add(group);
  if (!process.listeners('exit').includes(killAllGroups)) process.on('exit', killAllGroups);
  return () => groups.delete(group);
};
