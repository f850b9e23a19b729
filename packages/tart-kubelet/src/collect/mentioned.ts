import { type HostProcess, tartProcesses } from '@tartan/tart';

/**
 * Every word of a call of tart that is under way, whoever made it: `run x`, `push x …`, `clone image x`. Whole words, so that `x` is not
 * in use because `x-2` is (INC-51). Too many words only spare too much.
 */
export const mentionedNames = (processes: readonly HostProcess[], paths: readonly string[] = []): ReadonlySet<string> =>
  new Set(tartProcesses(processes, paths).flatMap(({ rest }) => rest.split(/\s+/).filter((word) => word !== '')));
