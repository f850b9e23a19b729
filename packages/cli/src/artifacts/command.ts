import type { Command } from 'commander';
import type { Shell } from '../shell.ts';

interface Given {
  readonly lock: string;
  readonly folder: string;
}

const lockOption = ['--lock <file>', 'the lock file', 'image/artifacts.lock'] as const;
const folderOption = [
  '--folder <path>',
  'where the files are, each at the place it has in /opt of the image',
  'artifacts',
] as const;

export const addArtifactsCommand = (program: Command, shell: Shell): void => {
  const { run } = shell;
  const artifacts = program
    .command('artifacts')
    .description('Software for Macs that the container image carries: fetch it, verify it, lock it.')
    .helpCommand(false);
  artifacts
    .command('fetch')
    .description('Download what the lock names, and make of it what the manager wants. What is there already stays.')
    .argument('[names...]', 'only these')
    .option(...lockOption)
    .option(...folderOption)
    .addHelpText(
      'after',
      `
A file gets its name only when the download has the sum that the lock says. One without a sum is refused. Proxies are taken
from HTTPS_PROXY and NO_PROXY.

Examples:
  $ tartan artifacts fetch
  $ tartan artifacts fetch tart node --folder /tmp/opt

Exit codes: 0 all are there; 1 some are not, and why; 2 the lock cannot be read; 130 stopped.`,
    )
    .action((names: string[], given: Given) =>
      run('artifacts fetch', async () => (await import('./run.ts')).fetchAll({ ...given, names }, shell)),
    );
  artifacts
    .command('verify')
    .description('Compare what is in the folder with the lock. Changes nothing, and needs no network.')
    .argument('[names...]', 'only these')
    .option(...lockOption)
    .option(...folderOption)
    .addHelpText(
      'after',
      `
Archives that stay as they came are held against the lock. Of what was taken out of one, fetched.json in the folder says what it
was when it was fetched, and of which download.

Examples:
  $ tartan artifacts verify
  $ tartan artifacts verify tart --folder /opt

Exit codes: 0 all are as the lock says; 1 some are not; 2 the lock cannot be read.`,
    )
    .action((names: string[], given: Given) =>
      run('artifacts verify', async () => (await import('./run.ts')).verifyAll({ ...given, names }, shell)),
    );
  artifacts
    .command('lock')
    .description('Find the sums of versions, and write them into the lock file. Without names: those that have none.')
    .argument('[names...]', 'such as tart, or tart@2.33.0 for another version')
    .option(...lockOption)
    .addHelpText(
      'after',
      `
Each is downloaded once, and looked into: what the image needs must be there. A sum says what was downloaded, not that it is what
the project made: compare it with what the project publishes before you commit it.

Examples:
  $ tartan artifacts lock
  $ tartan artifacts lock tart@2.33.0 && git diff image/artifacts.lock

Exit codes: 0 written, or nothing to do; 1 some were not found, and why; 2 the lock cannot be read; 130 stopped.`,
    )
    .action((names: string[], { lock }: Given) =>
      run('artifacts lock', async () => (await import('./run.ts')).lockAll({ lock, names }, shell)),
    );
};
