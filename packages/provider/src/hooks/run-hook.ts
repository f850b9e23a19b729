import {
  type Client,
  createClient,
  errorMessage,
  exitCodes,
  httpsTransport,
  isKubeError,
  loadConfig,
  type ProcessContext,
} from '@tartan/kube';
import { type Clock, sleep, systemClock, withTimeout } from '@tartan/kube/clock';
import packageFile from '../../package.json' with { type: 'json' };

/** What every hook is told by, for `parseArgs`. */
export const commonOptions = {
  kubeconfig: { type: 'string' },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface CommonOptions {
  readonly kubeconfig?: string | undefined;
  readonly version: boolean;
  readonly help: boolean;
}

/** The cluster that a hook works in, for as long as it may. */
interface HookContext extends RetryOptions {
  readonly client: Client;
  /** Of this Pod, or of the kubeconfig. */
  readonly namespace: string;
}

/** A small program of the image that a hook of the chart runs. */
export interface Hook<Options extends CommonOptions> {
  readonly help: string;
  /** Throws for what it does not understand. */
  readonly read: (argv: readonly string[]) => Options;
  readonly timeoutMs: number;
  /** What keeps it from being well, for people; undefined: nothing. */
  readonly run: (options: Options, place: HookContext, surroundings: ProcessContext) => Promise<string | undefined>;
  /** For people, when it came to nothing: `why` is a sentence. */
  readonly failed: (why: string, surroundings: ProcessContext) => string;
}

/** Answers the code to exit with. */
export const runHook = async <Options extends CommonOptions>(
  hook: Hook<Options>,
  argv: readonly string[],
  surroundings: ProcessContext,
): Promise<number> => {
  const { stdout, stderr } = surroundings;
  let options: Options;
  try {
    options = hook.read(argv);
  } catch (error) {
    stderr(`${errorMessage(error)}\n--help shows what there is.\n`);
    return exitCodes.usage;
  }
  if (options.help || options.version) {
    stdout(options.help ? hook.help : `${packageFile.version}\n`);
    return exitCodes.done;
  }
  try {
    const problem = await runInCluster(hook, options, surroundings);
    if (problem === undefined) return exitCodes.done;
    stderr(problem);
  } catch (error) {
    stderr(`${hook.failed(explain(error), surroundings)}\n`);
  }
  return exitCodes.failed;
};

const runInCluster = async <Options extends CommonOptions>(
  { timeoutMs, run }: Hook<Options>,
  options: Options,
  surroundings: ProcessContext,
): Promise<string | undefined> => {
  const { env, signal } = surroundings;
  const { kubeconfig } = options;
  const clock = systemClock;
  const config = await loadConfig({ env, clock, kubeconfigPath: kubeconfig });
  const transport = httpsTransport({ ...config, clock });
  try {
    const context = { client: createClient(transport, { clock }), namespace: config.namespace, clock };
    return await withTimeout(
      clock,
      timeoutMs,
      (inTime) => run(options, { ...context, signal: inTime }, surroundings),
      signal,
    );
  } finally {
    transport.close();
  }
};

const explain = (error: unknown): string =>
  isKubeError(error, 'forbidden')
    ? `${error.message}. This account needs the permissions in docs/reference/rights.md.`
    : errorMessage(error);

export interface RetryOptions {
  readonly clock: Clock;
  /** Fires when there is no more time. */
  readonly signal: AbortSignal;
}

/** Between two looks at what the server is not done with, and before an attempt that may now go well. */
export const retryIntervalMs = 250;

const transientReasons = [
  'conflict',
  'alreadyExists',
  'notFound',
  'tooManyRequests',
  'timeout',
  'unreachable',
  'serverError',
] as const;

/** Again, from the beginning, after what may go well next time: another writer, a server that starts or is busy. */
export const retryTransient = async <T>({ clock, signal }: RetryOptions, attempt: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isKubeError(error, ...transientReasons) || signal.aborted) throw error;
      await sleep(clock, error.retryAfterMs ?? retryIntervalMs, signal);
      if (signal.aborted) throw error;
    }
  }
};
