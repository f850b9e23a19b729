import { userInfo } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLogger, type Logger } from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import { createAgent } from './agent/create-agent.ts';
import { type AgentOptions, parseFlags } from './flags/parse-flags.ts';
import { agentVersion, checkArguments, wrongArgumentsExitCode } from './release.ts';

const gcIntervalMs = 30_000;
/** What it has taken since the last time; less is not worth a stop. */
const minGrowthBytes = 2_000_000;

/** `gc`, which V8 gives only to contexts that are made while it is told to. `undefined` where it does not. */
const v8GarbageCollector = (): ((options: object) => unknown) | undefined => {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  return typeof found === 'function' ? (options) => Reflect.apply(found, undefined, [options]) : undefined;
};

/**
 * Gives pages back to the Mac, whose memory is for guests. V8 keeps what it once needed, spread over half-empty pages, until memory is
 * short; an agent that waits never gets there. It stops the agent for some 20 ms, so it is done only after it has grown. Until `signal` fires.
 */
export const releaseHeapMemory = async (clock: Clock, signal: AbortSignal): Promise<void> => {
  const collect = v8GarbageCollector();
  if (collect === undefined) return;
  let after = 0;
  for (;;) {
    await sleep(clock, gcIntervalMs, signal);
    if (signal.aborted) return;
    if (getHeapStatistics().total_heap_size - after < minGrowthBytes) continue;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    after = getHeapStatistics().total_heap_size;
  }
};

/** The world of the process, as far as the program touches it. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
  /** Where the code lies that runs. */
  readonly folder: string;
  /** What was asked for: the help, the version. */
  readonly writeStdout: (text: string) => void;
  /** Logs and complaints. */
  readonly writeStderr: (text: string) => void;
  /** Fires when the process is asked to end. */
  readonly signal: AbortSignal;
}

const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** The agent as a program: what its arguments say, until the signal fires. Answers the code to exit with. */
export const runAgent = async (args: readonly string[], context: ProcessContext): Promise<number> => {
  const { writeStdout, writeStderr, folder } = context;
  const parsed = parseFlags(args, context);
  if (parsed.kind === 'version' || parsed.kind === 'help') {
    writeStdout(parsed.kind === 'help' ? parsed.text : `${agentVersion}\n`);
    return exitCodes.done;
  }
  // Before anything else is judged: arguments of another release may be ones that this one does not know.
  const check = await checkArguments(folder, args);
  if (check.kind === 'wrong') {
    writeStderr(`${check.message}\n`);
    return wrongArgumentsExitCode;
  }
  if (parsed.kind === 'errors') {
    writeStderr(`${parsed.errors.join('\n')}\n--help shows all flags.\n`);
    return exitCodes.usage;
  }
  const { logLevel: level } = parsed.options;
  const log = createLogger({ level, write: writeStderr, clock: systemClock });
  try {
    await run(parsed.options, context, log);
    return exitCodes.done;
  } catch (error) {
    log.error('The agent cannot go on', { error });
    return exitCodes.failed;
  }
};

const run = async (options: AgentOptions, { env, signal }: ProcessContext, log: Logger): Promise<void> => {
  log.info('The agent starts', { node: options.nodeName, version: agentVersion });
  const { uid } = userInfo();
  const agent = createAgent({ options, root: env['TARTAN_ROOT'] ?? '', env, uid, log });
  await Promise.all([agent.run(signal), releaseHeapMemory(systemClock, signal)]);
  log.info('The agent ends');
};
