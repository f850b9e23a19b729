import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentSettings, type Fault, type ClockAdvance, type Point, settingsVariable } from './agent/settings.ts';

/** The agents of one Mac, one after the other: when one is killed, another is started, as launchd would. */
export interface Agents {
  /** The fault applies to the first agent. */
  start(fault?: Fault): void;
  /** Advances the clock of the running agent, and of later ones. */
  advanceClock(milliseconds: number): void;
  /** Whether the fault has occurred. */
  readonly occurred: boolean;
  /** Every effect of the first agent. */
  points(): readonly Point[];
  /** The output of all agents. */
  lines(): string;
  stop(): Promise<void>;
}

export interface AgentsOptions extends Omit<AgentSettings, 'fault' | 'clockOffsetMs' | 'points'> {
  /** The bundled program. */
  readonly program: string;
  /** Called for an agent that ended without being killed. */
  readonly onProblem: (what: string) => void;
}

export const createAgents = ({ onProblem, program, ...settings }: AgentsOptions): Agents => {
  const { folder } = settings;
  let clockOffsetMs = 0;
  let count = 0;
  let occurred = false;
  let isOver = false;
  let living: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();
  const fileOf = (which: number, what: string): string => join(folder, `agent-${which}.${what}`);

  const start = (fault?: Fault): void => {
    const mine = ++count;
    const ownSettings: AgentSettings = { ...settings, clockOffsetMs, points: fileOf(mine, 'points'), fault };
    const log = openSync(fileOf(mine, 'log'), 'a');
    // Not in the arguments: a search for processes of this Mac's tart would find it by them.
    const child = spawn(process.execPath, [program], {
      env: { PATH: process.env['PATH'], [settingsVariable]: JSON.stringify(ownSettings) },
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    living = child;
    gone = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve();
        if (isOver) return;
        if (signal === 'SIGKILL' && fault !== undefined) occurred = true;
        else onProblem(`agent ${mine} ended by itself, with ${code ?? signal}`);
        if (count < 3) start();
      });
    });
  };

  return {
    start,
    advanceClock: (milliseconds) => {
      clockOffsetMs += milliseconds;
      const message: ClockAdvance = { advanceMs: milliseconds };
      // An agent that is being killed misses the message; the next one starts with the advanced clock.
      if (living?.connected === true) living.send(message, () => {});
    },
    get occurred() {
      return occurred;
    },
    points: () => {
      const file = fileOf(1, 'points');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
      return lines.map((line) => JSON.parse(line) as Point);
    },
    lines: () => {
      const logs = Array.from({ length: count }, (_, index) => readFileSync(fileOf(index + 1, 'log'), 'utf8'));
      return logs.map((lines, index) => `--- agent ${index + 1}\n${lines}`).join('');
    },
    stop: async () => {
      isOver = true;
      living?.kill('SIGKILL');
      await gone;
    },
  };
};
