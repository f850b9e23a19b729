import { spawn as nodeSpawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { checkReference, checkTarget, checkVmName, isReference } from './arguments.ts';
import { type CallDeps, callTart, type Spawn } from './call.ts';
import { decodeDetails, decodeList } from './decode.ts';
import { execInVm } from './exec.ts';
import { createProcessTable, type ProcessTable } from './processes.ts';
import { createPullParser, downloadSnapshot } from './pull-progress.ts';
import { redact } from './redact.ts';
import { runVm } from './run.ts';
import { isTartError, TartError } from './tart-error.ts';
import type { CallControl, PullOptions, RegistryCredentials, Tart, VmChanges } from './tart.ts';
import { deadline, stallTimeout, type Timeout } from './timeouts.ts';

/** In milliseconds. A pull has no deadline: see `stallMs` below. */
export interface Deadlines {
  readonly probe: number;
  readonly set: number;
  readonly clone: number;
  readonly delete: number;
  /** Added to the time that tart itself waits. */
  readonly margin: number;
}

export interface TartOptions {
  /** The executable. */
  readonly path: string;
  /** The complete environment of tart; its TART_HOME is the folder of VMs and images. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly spawn?: Spawn;
  readonly processes?: ProcessTable;
  readonly deadlines?: Partial<Deadlines>;
}

/** A pull without progress for this long is killed. */
const stallMs = 300_000;

/** Sufficient in the original system. */
const defaultDeadlines: Deadlines = { probe: 30_000, set: 60_000, clone: 300_000, delete: 300_000, margin: 30_000 };

const secretsOf = (credentials: RegistryCredentials | undefined): readonly string[] =>
  credentials === undefined
    ? []
    : [
        credentials.password,
        Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64'),
        encodeURIComponent(credentials.password),
      ];

const credentialsEnvironment = (credentials: RegistryCredentials | undefined): Record<string, string> =>
  credentials === undefined
    ? {}
    : {
        TART_REGISTRY_HOSTNAME: credentials.host,
        TART_REGISTRY_USERNAME: credentials.username,
        TART_REGISTRY_PASSWORD: credentials.password,
      };

const setArguments = ({ cpu, memoryMb, randomSerial, randomMac }: VmChanges): readonly string[] => [
  ...(cpu === undefined ? [] : ['--cpu', String(cpu)]),
  ...(memoryMb === undefined ? [] : ['--memory', String(memoryMb)]),
  ...(randomSerial === true ? ['--random-serial'] : []),
  ...(randomMac === true ? ['--random-mac'] : []),
];

const unreadableError = (command: string, call: string, expected: string, text: string): TartError =>
  new TartError('unreadable', `${call} answered with something that is no ${expected}`, {
    command,
    tail: redact(text.slice(-500)),
  });

/** Tart's data folder. */
export const tartHome = (environment: TartOptions['environment']): string =>
  environment['TART_HOME'] ?? join(environment['HOME'] ?? homedir(), '.tart');

export const createTart = (options: TartOptions): Tart => {
  const { clock = systemClock, spawn = nodeSpawn } = options;
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  const home = tartHome(options.environment);
  // The garbage collector decides what to delete when disk space is low, not tart.
  const environment = { ...options.environment, TART_NO_AUTO_PRUNE: '1' };
  const deps: CallDeps = { path: options.path, environment, clock, spawn };
  const processes = options.processes ?? createProcessTable(options.environment);
  /** Names of clones in progress. */
  const cloning = new Set<string>();

  const call = (args: readonly string[], milliseconds: number, control: CallControl = {}): Promise<string> =>
    callTart(deps, args, { timeout: deadline(milliseconds), signal: control.signal });

  const callWithCredentials = (args: readonly string[], timeout: Timeout, pull: PullOptions): Promise<string> =>
    callTart(deps, args, {
      timeout,
      signal: pull.signal,
      // CI: tart writes progress as complete lines, without rewriting them.
      environment: { ...credentialsEnvironment(pull.credentials), CI: '1' },
      onOutput: createPullParser(pull.onProgress ?? (() => {})),
      secrets: secretsOf(pull.credentials),
    });
  const pullTimeout = (): Timeout => stallTimeout(stallMs, () => downloadSnapshot(home));

  /** Tart would replace a VM with this name, running or not (INC-429). A broken folder occupies the name too. */
  const exists = (name: string): boolean => {
    try {
      return lstatSync(join(home, 'vms', name), { throwIfNoEntry: false }) !== undefined;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new TartError('other', `It is not known whether ${name} exists: ${why}`, { command: 'clone', cause });
    }
  };
  const alreadyExists = (name: string): TartError =>
    new TartError('already exists', `There is a virtual machine named ${name} already; delete it first`, {
      command: 'clone',
    });

  return {
    version: async (control) => (await call(['--version'], deadlines.probe, control)).trim(),
    list: async (control) => {
      const text = await call(['list', '--format', 'json'], deadlines.probe, control);
      const list = decodeList(text);
      if (list !== undefined) return list;
      throw unreadableError('list', 'tart list', 'list', text);
    },
    get: async (name, control) => {
      checkVmName('get', name);
      let text: string;
      try {
        text = await call(['get', name, '--format', 'json'], deadlines.probe, control);
      } catch (error) {
        if (isTartError(error, 'missing')) return undefined;
        throw error;
      }
      const details = decodeDetails(text);
      if (details !== undefined) return details;
      throw unreadableError('get', `tart get ${name}`, 'object', text);
    },
    pull: async (image, pull = {}) => {
      checkReference('pull', image);
      await callWithCredentials(['pull', image], pullTimeout(), pull);
    },
    clone: async (source, name, pull = {}) => {
      checkTarget('clone', source);
      checkVmName('clone', name);
      if (cloning.has(name)) throw alreadyExists(name);
      cloning.add(name);
      try {
        if (exists(name)) throw alreadyExists(name);
        // Tart pulls a missing image first, which may take long.
        const timeout = isReference(source) ? pullTimeout() : deadline(deadlines.clone);
        await callWithCredentials(['clone', source, name], timeout, pull);
      } finally {
        cloning.delete(name);
      }
    },
    set: async (name, changes, control) => {
      checkVmName('set', name);
      const args = setArguments(changes);
      if (args.length > 0) await call(['set', name, ...args], deadlines.set, control);
    },
    run: async (name, run) => {
      checkVmName('run', name);
      return runVm(deps, processes, name, run);
    },
    stop: async (name, { timeoutSeconds, signal }) => {
      checkVmName('stop', name);
      const seconds = Math.max(0, Math.ceil(timeoutSeconds));
      try {
        await call(['stop', name, '--timeout', String(seconds)], seconds * 1000 + deadlines.margin, { signal });
      } catch (error) {
        if (!isTartError(error, 'not running', 'missing')) throw error;
      }
    },
    delete: async (name, control) => {
      checkTarget('delete', name);
      try {
        await call(['delete', name], deadlines.delete, control);
      } catch (error) {
        if (!isTartError(error, 'missing')) throw error;
      }
    },
    ip: async (name, control) => {
      checkVmName('ip', name);
      try {
        const address = (await call(['ip', name, '--wait', '0'], deadlines.probe, control)).trim();
        if (isIPv4(address)) return address;
        throw unreadableError('ip', `tart ip ${name}`, 'address', address);
      } catch (error) {
        if (isTartError(error, 'other') && /no IP address found/.test(error.tail)) return undefined;
        throw error;
      }
    },
    exec: (name, command, exec = {}) => {
      checkVmName('exec', name);
      return execInVm(deps, name, command, exec);
    },
  };
};
