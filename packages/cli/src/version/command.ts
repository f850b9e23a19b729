import type { Command } from 'commander';
import { type ClusterOptions, choiceOf, withClusterOptions } from '../cluster/options.ts';
import type { Shell } from '../shell.ts';
import { lookOf } from '../show/look.ts';

interface Given extends ClusterOptions {
  readonly client?: boolean;
}

export const addVersionCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('version'), { namespaces: false })
    .description('Show the version of this command, of the cluster, and of the agent on each Node.')
    .option('--client', 'of this command only; no cluster is asked')
    .addHelpText(
      'after',
      `
Examples:
  $ tartan version
  $ tartan version -o json | jq -r '.agents[] | [.node, .version] | @tsv'

Exit codes: 0 shown; 2 the cluster could not be asked, and only this command's own is shown; 130 stopped.`,
    )
    .action((options: Given) => shell.run('version', () => version(options, shell)));
};

const version = async (options: Given, { stdout, env, signal }: Shell): Promise<number> => {
  const [{ withCluster }, { clientOnly, versionPage, versionsOf }, { pageLines }, { systemClock }] = await Promise.all([
    import('../cluster/cluster.ts'),
    import('./version.ts'),
    import('../show/view.ts'),
    import('@tartan/kube/clock'),
  ]);
  const show = (document: ReturnType<typeof clientOnly>): void => {
    const look = lookOf(stdout, env, options.color);
    const width = stdout.isTTY === true ? stdout.columns : undefined;
    stdout.write(
      options.output === 'json'
        ? `${JSON.stringify(document, null, 2)}\n`
        : pageLines(versionPage(document), width, look)
            .map((line) => `${line}\n`)
            .join(''),
    );
  };
  if (options.client === true) {
    show(clientOnly(systemClock.now()));
    return 0;
  }
  try {
    show(await withCluster(choiceOf(options), env, (cluster) => versionsOf(cluster, signal)));
    return 0;
  } catch (error) {
    // What is known without a cluster is told all the same; the rest is for stderr and the exit code.
    if (!signal.aborted) show(clientOnly(systemClock.now()));
    throw error;
  }
};
