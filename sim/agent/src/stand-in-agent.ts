import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A file as it is pushed to hosts. */
export interface StandInFile {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly file: string;
}

/** What stands for the agent on a Mac's disk: the runtime, and the release that it runs. */
export interface AgentFiles {
  readonly runtime: StandInFile;
  readonly release: StandInFile;
}

/** What a release is like: written in it, and obeyed by whoever plays it. */
export interface Traits {
  readonly version: string;
  /** It runs, and its Node never becomes Ready. */
  readonly neverReady: boolean;
  /** Its process ends as soon as it has started. */
  readonly exits: boolean;
}

const headline = '// tart-kubelet ';

const textOf = ({ version, neverReady, exits }: Traits): string =>
  `${headline}${version}${neverReady ? ' never-ready' : ''}${exits ? ' exits' : ''}\n`;

export const traitsOf = (release: string): Traits => {
  const [first = ''] = release.split('\n');
  const [version = '', ...words] = first.startsWith(headline) ? first.slice(headline.length).split(' ') : [];
  return { version: version || 'unknown', neverReady: words.includes('never-ready'), exits: words.includes('exits') };
};

/**
 * Plays node in shell: one sleeping process per Mac instead of a whole Node. It treats the release as the agent does itself: arguments
 * that are not those of the release end it.
 */
const runtime = `#!/bin/sh
# Stands in for the runtime of the agent.
release=$(cd "\${TARTAN_ROOT:-}\${1%/*}" && pwd -P) || exit 1
shift
given=$(printf '%s\\0' "$@" | shasum -a 256)
[ "\${given%% *}" = "$(cat "$release/arguments")" ] || {
  echo 'refused: the release expects other arguments'
  exit 78
}
read -r headline <"$release/tart-kubelet.mjs"
case $headline in *' exits'*) exit 1 ;; esac
# By its path: \`sleep\` of a simulated Mac is as short as its pace.
exec /bin/sleep 2147483647
`;

/** Files that play the agent on a simulated Mac, written into a folder that is the caller's to remove. */
export const standInAgent = async (
  folder: string,
  { version, neverReady = false, exits = false }: Partial<Traits> & Pick<Traits, 'version'>,
): Promise<AgentFiles> => {
  await mkdir(folder, { recursive: true });
  const put = async (name: string, text: string): Promise<StandInFile> => {
    const sha256 = createHash('sha256').update(text).digest('hex');
    const file = join(folder, `${name.replaceAll(' ', '-')}-${sha256.slice(0, 8)}`);
    await writeFile(file, text, { mode: 0o755 });
    return { name, sha256, size: Buffer.byteLength(text), file };
  };
  return {
    runtime: await put('node stand-in', runtime),
    release: await put(`tart-kubelet ${version}`, textOf({ version, neverReady, exits })),
  };
};
