import { appendFile, readFile, writeFile } from 'node:fs/promises';

/** One call of `tart`. Times are milliseconds since the epoch. */
export interface TartCall {
  readonly command: string;
  readonly words: readonly string[];
  readonly began: number;
  /** `undefined`: a virtual machine that runs. */
  readonly ended: number | undefined;
}

/**
 * In the place of `tart`: says when it was called and when it came back. It becomes `tart run` itself, so that the process of a virtual
 * machine is the one that the agent started. What it takes to start this script counts as ours.
 */
export const installStampingTart = async (path: string, tart: string, file: string): Promise<void> => {
  await appendFile(file, '');
  const script = `#!/bin/bash
began=$EPOCHREALTIME
if [ "$1" = run ]; then
  echo "$began - $*" >>'${file}'
  exec '${tart}' "$@"
fi
'${tart}' "$@"
code=$?
echo "$began $EPOCHREALTIME $*" >>'${file}'
exit $code
`;
  await writeFile(path, script, { mode: 0o755 });
};

export const readTartCalls = async (file: string): Promise<TartCall[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [began, ended, command = '', ...words] = line.split(' ');
      return { command, words, began: Number(began) * 1000, ended: ended === '-' ? undefined : Number(ended) * 1000 };
    });
