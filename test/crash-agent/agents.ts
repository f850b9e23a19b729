import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentSettings, type Fault, type ClockAdvance, type Point, settingsVariable } from './agent/settings.ts';

/** The agents of one Mac, one after the other: when one is killed, as launchd would, another is started. */
export interface Agents {
  /** With the fault that the first one meets. */
  start(fault?: Fault): void;
  /** Lets time pass for whoever lives, and for those after it. */
  leap(milliseconds: number): void;
  /** The fault has struck. */
  readonly struck: boolean;
  /** Every effect of the first one. */
  points(): readonly Point[];
  /** What all of them said. */
  lines(): string;
  stop(): Promise<void>;
}

export interface AgentsOptions extends Omit<AgentSettings, 'fault' | 'leaptMs' | 'points'> {
  /** The bundled program. */
  readonly program: string;
  /** Told of an agent that ended without being killed. */
  readonly onProblem: (what: string) => void;
}

export const createAgents = ({ onProblem, program, ...settings }: AgentsOptions): Agents => {
  const { folder } = settings;
  let leaptMs = 0;
  let count = 0;
  let struck = false;
  let isOver = false;
  let living: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();
  const fileOf = (which: number, what: string): string => join(folder, `agent-${which}.${what}`);

  const start = (fault?: Fault): void => {
    const mine = ++count;
    const told: AgentSettings = { ...settings, leaptMs, points: fileOf(mine, 'points'), fault };
    const log = openSync(fileOf(mine, 'log'), 'a');
    // The settings are not in its arguments: whoever looks for processes of this Mac's tart would find it.
    const child = spawn(process.execPath, [program], {
      env: { PATH: process.env['PATH'], [settingsVariable]: JSON.stringify(told) },
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    living = child;
    gone = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve();
        if (isOver) return;
        if (signal === 'SIGKILL' && fault !== undefined) struck = true;
        else onProblem(`agent ${mine} ended by itself, with ${code ?? signal}`);
        if (count < 3) start();
      });
    });
  };

  return {
    start,
    leap: (milliseconds) => {
      leaptMs += milliseconds;
      const leap: ClockAdvance = { leapMs: milliseconds };
      // One that is being killed does not hear it; the next one begins with it.
      if (living?.connected === true) living.send(leap, () => {});
    },
    get struck() {
      return struck;
    },
    points: () => {
      const file = fileOf(1, 'points');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
      return lines.map((line) => JSON.parse(line) as Point);
    },
    lines: () => {
      const told = Array.from({ length: count }, (_, index) => readFileSync(fileOf(index + 1, 'log'), 'utf8'));
      return told.map((lines, index) => `--- agent ${index + 1}\n${lines}`).join('');
    },
    stop: async () => {
      isOver = true;
      living?.kill('SIGKILL');
      await gone;
    },
  };
};
