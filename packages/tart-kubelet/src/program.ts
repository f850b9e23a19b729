import { userInfo } from 'node:os';
import { createLogger, type Logger } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createAgent } from './agent/create-agent.ts';
import { type AgentOptions, parseFlags } from './flags/parse-flags.ts';
import { agentVersion, checkArguments, wrongArgumentsExitCode } from './release.ts';

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
  await agent.run(signal);
  log.info('The agent ends');
};
