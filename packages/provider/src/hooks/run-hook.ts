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

/** Options of every hook, for `parseArgs`. */
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

/** The cluster of a hook, and its time limit. */
interface HookContext extends RetryOptions {
  readonly client: Client;
  /** Of this Pod, or of the kubeconfig. */
  readonly namespace: string;
}

/** A small program in the image that a hook of the chart runs. */
export interface Hook<Options extends CommonOptions> {
  readonly help: string;
  /** Throws on invalid arguments. */
  readonly read: (argv: readonly string[]) => Options;
  readonly timeoutMs: number;
  /** Returns the problem that it found, for users; undefined: none. */
  readonly run: (options: Options, place: HookContext, surroundings: ProcessContext) => Promise<string | undefined>;
  /** The message for users after a failure. `why` is a sentence. */
  readonly failed: (why: string, surroundings: ProcessContext) => string;
}

/** Returns the exit code. */
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
  /** Aborts when the time is up. */
  readonly signal: AbortSignal;
}

/** Poll interval, and the pause before a retry. */
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

/** Retries from the beginning after errors that may pass: a conflict, or a server that starts or is busy. */
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
