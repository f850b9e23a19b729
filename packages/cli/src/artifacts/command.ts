import type { Command } from 'commander';
import type { Shell } from '../shell.ts';

interface ArtifactsOptions {
  readonly lock: string;
  readonly folder: string;
}

const lockOption = ['--lock <file>', 'the lock file', 'image/artifacts.lock'] as const;
const folderOption = ['--folder <path>', 'folder of the files, laid out as /opt of the image', 'artifacts'] as const;

export const addArtifactsCommand = (program: Command, shell: Shell): void => {
  const { run } = shell;
  const artifacts = program
    .command('artifacts')
    .description('Fetch, verify and lock the software for Macs that the container image carries.')
    .helpCommand(false);
  artifacts
    .command('fetch')
    .description('Download and convert the artifacts of the lock file. Files that are already there stay.')
    .argument('[names...]', 'only these artifacts (default: all)')
    .option(...lockOption)
    .option(...folderOption)
    .addHelpText(
      'after',
      `
A file gets its final name only if the download has the checksum of the lock file. An artifact without a checksum is refused.
HTTPS_PROXY and NO_PROXY are honoured.

Examples:
  $ tartan artifacts fetch
  $ tartan artifacts fetch tart node --folder /tmp/opt

Exit codes: 0 all artifacts are there; 1 some are not, and the output says why; 2 the lock file cannot be read; 130 interrupted.`,
    )
    .action((names: string[], options: ArtifactsOptions) =>
      run('artifacts fetch', async () => (await import('./run.ts')).fetchAll({ ...options, names }, shell)),
    );
  artifacts
    .command('verify')
    .description('Compare the files in the folder with the lock file. Changes nothing and needs no network.')
    .argument('[names...]', 'only these artifacts (default: all)')
    .option(...lockOption)
    .option(...folderOption)
    .addHelpText(
      'after',
      `
Archives are compared with the checksums of the lock file. Files extracted from an archive are compared with fetched.json in the
folder, which records their checksums and the download they came from.

Examples:
  $ tartan artifacts verify
  $ tartan artifacts verify tart --folder /opt

Exit codes: 0 all files match; 1 some do not; 2 the lock file cannot be read.`,
    )
    .action((names: string[], options: ArtifactsOptions) =>
      run('artifacts verify', async () => (await import('./run.ts')).verifyAll({ ...options, names }, shell)),
    );
  artifacts
    .command('lock')
    .description('Write the checksums of artifacts into the lock file. Without names: of those that have none.')
    .argument('[names...]', 'such as tart, or tart@2.33.0 for another version')
    .option(...lockOption)
    .addHelpText(
      'after',
      `
Each artifact is downloaded once, and must contain the files that the image needs. The checksum describes the download. Compare it
with the checksum that the project publishes before you commit it.

Examples:
  $ tartan artifacts lock
  $ tartan artifacts lock tart@2.33.0 && git diff image/artifacts.lock

Exit codes: 0 written, or nothing to do; 1 some were not found, and the output says why; 2 the lock file cannot be read; 130 interrupted.`,
    )
    .action((names: string[], { lock }: ArtifactsOptions) =>
      run('artifacts lock', async () => (await import('./run.ts')).lockAll({ lock, names }, shell)),
    );
};
