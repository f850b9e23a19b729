import type { HostProcess, ProcessIdentity } from './processes.ts';

/** A call of tart that is under way, whoever made it. */
export interface TartProcess extends ProcessIdentity {
  /** `run`, `push`, `clone`. */
  readonly command: string;
  /** The rest of the command line; words cannot be told apart for sure, since ps joins them. */
  readonly rest: string;
}

export interface VmProcess extends ProcessIdentity {
  readonly name: string;
}

/**
 * `tart`, by a path or not, maybe read by a shell (as our wrapper for it is, for a moment). Anchored: an editor that has a file of this
 * name open is none (G27). A path with spaces is known only if it is one of `paths`.
 */
const program = /^(?:\S*\/)?(?:(?:ba|da|z)?sh )?(?:\S*\/)?tart (\S+)(?: (.*))?$/;

export const tartProcesses = (
  processes: readonly HostProcess[],
  paths: readonly string[] = [],
): readonly TartProcess[] =>
  processes.flatMap(({ pid, startedAt, command }) => {
    const path = paths.find((one) => command.startsWith(`${one} `));
    const [, subcommand, rest = ''] =
      program.exec(path === undefined ? command : `tart${command.slice(path.length)}`) ?? [];
    return subcommand === undefined ? [] : [{ pid, startedAt, command: subcommand, rest }];
  });

/** Options of `run` that take the next word (§7.4). */
const withValue = new Set(
  '--dir --disk --root-disk-opts --net-bridged --net-softnet-allow --net-softnet-block --net-softnet-expose --serial-path'.split(
    ' ',
  ),
);

/** The word right after `run`, as this driver writes it; somebody else may have put options first. */
const nameIn = (rest: string): string | undefined => {
  const words = rest.split(' ');
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || word === '') continue;
    if (!word.startsWith('-')) return word;
    if (withValue.has(word)) at++;
  }
  return undefined;
};

/** Virtual machines that are on, whoever started them. Names are whole words: `x` is not on because `x-2` is (INC-51). */
export const vmProcesses = (processes: readonly HostProcess[], paths: readonly string[] = []): readonly VmProcess[] =>
  tartProcesses(processes, paths).flatMap(({ pid, startedAt, command, rest }) => {
    const name = command === 'run' ? nameIn(rest) : undefined;
    return name === undefined ? [] : [{ pid, startedAt, name }];
  });
