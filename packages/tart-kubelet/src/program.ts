import { userInfo } from 'node:os';
import { createLogger, type Logger } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createAgent } from './agent/create-agent.ts';
import { type AgentOptions, parseFlags } from './flags/index.ts';
import { tidyMemory } from './tidy-memory.ts';
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

const run = async (options: AgentOptions, { env, signal }: Surroundings, log: Logger): Promise<void> => {
  log.info('The agent starts', { node: options.nodeName, version: agentVersion });
  const { uid } = userInfo();
  const agent = createAgent({ options, root: env['TARTAN_ROOT'] ?? '', env, uid, log });
  await Promise.all([agent.run(signal), tidyMemory(systemClock, signal)]);
  log.info('The agent ends');
};
