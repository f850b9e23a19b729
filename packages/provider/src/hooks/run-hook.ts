import { type Client, createClient, httpsTransport, isKubeError, loadConfig, type Surroundings } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import packageFile from '../../package.json' with { type: 'json' };
import type { Patience } from './insist.ts';

/** What every hook is told by, for `parseArgs`. */
export const usualOptions = {
  kubeconfig: { type: 'string' },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface UsualOptions {
  readonly kubeconfig?: string | undefined;
  readonly version: boolean;
  readonly help: boolean;
}

/** The cluster that a hook works in, for as long as it may. */
interface Place extends Patience {
  readonly client: Client;
  /** Of this Pod, or of the kubeconfig. */
  readonly namespace: string;
}

/** A small program of the image that a hook of the chart runs. */
export interface Hook<Options extends UsualOptions> {
  readonly help: string;
  /** Throws for what it does not understand. */
  readonly read: (argv: readonly string[]) => Options;
  readonly timeMs: number;
  /** What keeps it from being well, for people; undefined: nothing. */
  readonly work: (options: Options, place: Place, surroundings: Surroundings) => Promise<string | undefined>;
  /** For people, when it came to nothing: `why` is a sentence. */
  readonly failed: (why: string, surroundings: Surroundings) => string;
}

const exitCodes = { well: 0, notWell: 1, usage: 2 } as const;

/** Answers the code to exit with. */
export const runHook = async <Options extends UsualOptions>(
  hook: Hook<Options>,
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<number> => {
  const { say, complain } = surroundings;
  let options: Options;
  try {
    options = hook.read(argv);
  } catch (error) {
    complain(`${messageOf(error)}\n--help shows what there is.\n`);
    return exitCodes.usage;
  }
  if (options.help || options.version) {
    say(options.help ? hook.help : `${packageFile.version}\n`);
    return exitCodes.well;
  }
  try {
    const trouble = await inCluster(hook, options, surroundings);
    if (trouble === undefined) return exitCodes.well;
    complain(trouble);
  } catch (error) {
    complain(`${hook.failed(explained(error), surroundings)}\n`);
  }
  return exitCodes.notWell;
};

const inCluster = async <Options extends UsualOptions>(
  { timeMs, work }: Hook<Options>,
  options: Options,
  surroundings: Surroundings,
): Promise<string | undefined> => {
  const { env, signal } = surroundings;
  const { kubeconfig } = options;
  const clock = systemClock;
  const config = await loadConfig({ env, clock, ...(kubeconfig !== undefined && { kubeconfigPath: kubeconfig }) });
  const transport = httpsTransport({ ...config, clock });
  try {
    const place = {
      client: createClient(transport, { clock }),
      namespace: config.namespace,
      clock,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeMs)]),
    };
    return await work(options, place, surroundings);
  } finally {
    transport.close();
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const explained = (error: unknown): string =>
  isKubeError(error, 'forbidden')
    ? `${error.message}. Whoever runs this needs the rights that docs/rights.md lists for it.`
    : messageOf(error);
