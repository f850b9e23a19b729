import { type ClusterOptions, choiceOf, selectionOf } from '../cluster/options.ts';
import { inTheWordsOf, type Shell } from '../shell.ts';
import { lookOf } from './look.ts';
import type { Dated, View } from './view.ts';

/** Whoever watches ends it with Ctrl-C, and that is no failure. */
const watched = 0;
const stopped = 130;

/** Runs a command that shows a view of a cluster. What it needs is loaded when it is called: most start-up time is that of loading. */
export const runView = <Document extends Dated, Seen>(
  shell: Shell,
  name: string,
  options: ClusterOptions,
  load: () => Promise<View<Document, Seen>>,
): Promise<void> =>
  shell.run(name, async () => {
    const { stdout, env, signal, calledAs } = shell;
    const [{ withCluster }, { showView }, view] = await Promise.all([
      import('../cluster/cluster.ts'),
      import('./view.ts'),
      load(),
    ]);
    const { output, watch = false } = options;
    const screen = { stdout, look: lookOf(stdout, env, options.color) };
    const inWords: View<Document, Seen> = {
      ...view,
      pageOf: (document) => {
        const { tables, lines } = view.pageOf(document);
        return { tables, lines: lines.map((line) => inTheWordsOf(calledAs, line)) };
      },
    };
    const code = await withCluster(choiceOf(options), env, (cluster) =>
      showView(inWords, { output, watch, ...selectionOf(options) }, cluster, screen, signal),
    );
    return signal.aborted ? (watch ? watched : stopped) : code;
  });
