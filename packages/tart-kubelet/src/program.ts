import { userInfo } from 'node:os';
import { createClient, createLogger, type Logger } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { type AgentOptions, parseFlags } from './flags/index.ts';
import { createNodeIdentity } from './identity/index.ts';
import { createNodeController, macFacts, runCommand, stampsFolder, type TartFacts } from './node/index.ts';
import { agentVersion, checkArguments, wrongArguments } from './release/index.ts';

/** The world of the process, as far as the program touches it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
  /** Where the code lies that runs. */
  readonly folder: string;
  /** What was asked for: the help, the version. */
  readonly say: (text: string) => void;
  /** Logs and complaints. */
  readonly complain: (text: string) => void;
  /** Fires when the process is asked to end. */
  readonly signal: AbortSignal;
}

const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** The agent as a program: what its arguments say, until the signal fires. Answers the code to exit with. */
export const runAgent = async (words: readonly string[], surroundings: Surroundings): Promise<number> => {
  const { say, complain, folder } = surroundings;
  const asked = parseFlags(words, surroundings);
  if (asked.kind === 'version' || asked.kind === 'help') {
    say(asked.kind === 'help' ? asked.text : `${agentVersion}\n`);
    return exitCodes.done;
  }
  // Before anything else is judged: arguments of another release may be ones that this one does not know.
  const verdict = await checkArguments(folder, words);
  if (verdict.kind === 'wrong') {
    complain(`${verdict.message}\n`);
    return wrongArguments;
  }
  if (asked.kind === 'errors') {
    complain(`${asked.errors.join('\n')}\n--help shows all flags.\n`);
    return exitCodes.usage;
  }
  const { logLevel: level } = asked.options;
  const log = createLogger({ level, write: complain, clock: systemClock });
  try {
    await run(asked.options, surroundings, log);
    return exitCodes.done;
  } catch (error) {
    log.error('The agent cannot go on', { error });
    return exitCodes.failed;
  }
};

/** As long as nobody looks after virtual machines, there are none to tell of. */
const withoutMachines = ({ tartBinary, vmSlots }: AgentOptions, root: string): TartFacts => ({
  guestDisks: async () => [],
  slots: async () => ({ taken: 0, total: vmSlots }),
  images: async () => [],
  labels: async () => ({}),
  runtime: (signal) => runCommand(`${root}${tartBinary}`, ['--version'], signal),
});

const run = async (options: AgentOptions, { env, signal }: Surroundings, log: Logger): Promise<void> => {
  const root = env['TARTAN_ROOT'] ?? '';
  const { nodeName } = options;
  log.info('The agent starts', { node: nodeName, version: agentVersion });
  const common = { clock: systemClock, random: Math.random, log };
  const identity = createNodeIdentity({ ...common, nodeName, kubeconfig: `${root}${options.kubeconfig}` });
  const userAgent = `tart-kubelet/${agentVersion}`;
  const node = createNodeController({
    ...common,
    client: createClient(identity.transport, { clock: systemClock, userAgent }),
    wanted: { ...options, kubeletVersion: options.kubeletVersion ?? agentVersion, agentVersion },
    host: macFacts({ options, root, uid: userInfo().uid, tart: withoutMachines(options, root), clock: systemClock }),
    stamps: `${root}${stampsFolder}`,
  });
  // Without an identity there is nothing to do; the end may come before it.
  const work = async (): Promise<void> => {
    await Promise.race([identity.ready, ended(signal)]);
    await node.run(signal);
  };
  await Promise.all([identity.run(signal), work()]);
  log.info('The agent ends');
};

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
