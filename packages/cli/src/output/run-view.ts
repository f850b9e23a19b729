import { choiceOf, type ClusterOptions, selectionOf } from '../command-options.ts';
import { type Shell, withCommandName } from '../shell.ts';
import { textStyleFor } from './terminal-text.ts';
import type { View, ViewDocument } from './view.ts';

/** Whoever watches ends it with Ctrl-C, and that is no failure. */
const watchExitCode = 0;
const interruptedExitCode = 130;

/** Runs a command that shows a view of a cluster. What it needs is loaded when it is called: most start-up time is that of loading. */
export const runView = <Document extends ViewDocument, Seen>(
  shell: Shell,
  name: string,
  options: ClusterOptions,
  load: () => Promise<View<Document, Seen>>,
): Promise<void> =>
  shell.run(name, async () => {
    const { stdout, env, signal, commandName } = shell;
    const [{ withCluster }, { showView }, view] = await Promise.all([
      import('../cluster/connection.ts'),
      import('./view.ts'),
      load(),
    ]);
    const { output, watch = false } = options;
    const screen = { stdout, style: textStyleFor(stdout, env, options.color) };
    const renamedView: View<Document, Seen> = {
      ...view,
      pageOf: (document) => {
        const { tables, lines } = view.pageOf(document);
        return { tables, lines: lines.map((line) => withCommandName(commandName, line)) };
      },
    };
    const code = await withCluster(choiceOf(options), env, (cluster) =>
      showView(renamedView, { output, watch, ...selectionOf(options) }, cluster, screen, signal),
    );
    return signal.aborted ? (watch ? watchExitCode : interruptedExitCode) : code;
  });
