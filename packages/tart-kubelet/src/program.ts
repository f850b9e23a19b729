import { userInfo } from 'node:os';
import { createLogger, exitCodes, type Logger, type ProcessContext } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createAgent } from './agent/create-agent.ts';
import { type AgentOptions, parseFlags } from './flags/flags.ts';
import { agentVersion, checkArguments, wrongArgumentsExitCode } from './release.ts';

export interface AgentContext extends ProcessContext {
  readonly hostname: string;
  /** The folder of the running code. */
  readonly folder: string;
}

/** Runs the agent with these arguments until the signal fires. Resolves with the exit code. */
export const runAgent = async (args: readonly string[], context: AgentContext): Promise<number> => {
  const { stdout, stderr, folder } = context;
  const parsed = parseFlags(args, context);
  const wantsVersion = args.some((word) => /^--?version$/.test(word));
  if (wantsVersion || 'help' in parsed) {
    stdout('help' in parsed ? parsed.help : `${agentVersion}\n`);
    return exitCodes.done;
  }
  // First of all: this release may not know the arguments of another release.
  const problem = await checkArguments(folder, args);
  if (problem !== undefined) {
    stderr(`${problem}\n`);
    return wrongArgumentsExitCode;
  }
  if ('errors' in parsed) {
    stderr(`${parsed.errors.join('\n')}\n--help shows all flags.\n`);
    return exitCodes.usage;
  }
  const { logLevel: level } = parsed.options;
  const log = createLogger({ level, write: stderr, clock: systemClock });
  try {
    await run(parsed.options, context, log);
    return exitCodes.done;
  } catch (error) {
    log.error('The agent cannot go on', { error });
    return exitCodes.failed;
  }
};

const run = async (options: AgentOptions, { env, signal }: AgentContext, log: Logger): Promise<void> => {
  log.info('The agent starts', { node: options.nodeName, version: agentVersion });
  const { uid } = userInfo();
  const agent = createAgent({ options, root: env['TARTAN_ROOT'] ?? '', env, uid, log });
  await agent.run(signal);
  log.info('The agent ends');
};
