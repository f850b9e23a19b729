import type { Loginwindow } from '../console/console.ts';
import { type Machine, macPath } from '../machine.ts';
import { exitLine, exitStatus } from './exit-status.ts';
import type { Job } from './job.ts';
import { domainName } from './target.ts';

/**
 * loginwindow has no process here. No process on Linux or macOS can have this pid, so a script that kills it by pid hits nothing; `killall`
 * and `launchctl kill` reach it.
 */
const loginwindowPid = 2_147_483_647;
export const loginwindowLabel = 'com.apple.loginwindow';

const block = (head: string, lines: readonly string[]): string =>
  `${head} = {\n${lines.map((line) => (line === '' ? '\n' : `\t${line}\n`)).join('')}}\n`;

const inner = (head: string, lines: readonly string[]): string[] => [
  `${head} = {`,
  ...lines.map((line) => `\t${line}`),
  '}',
];

const optional = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${name} = ${value}`];

/** `launchctl print <domain>/<label>`. */
export const printJob = (machine: Machine, job: Job): string => {
  const { description } = job;
  const { state, pid, runs } = job.view();
  const properties = [
    ...(description.keepAlive === 'never' ? [] : ['keepalive']),
    ...(description.runAtLoad ? ['runatload'] : []),
  ];
  return block(`${domainName(job.domain)}/${description.label}`, [
    `active count = ${pid === undefined ? 0 : 1}`,
    `path = ${macPath(machine, job.file)}`,
    `type = ${job.domain.kind === 'system' ? 'LaunchDaemon' : 'LaunchAgent'}`,
    `state = ${state}`,
    '',
    `program = ${description.program}`,
    ...inner('arguments', description.arguments),
    '',
    ...optional('working directory', description.workingDirectory),
    ...optional('stdout path', description.standardOutPath),
    ...optional('stderr path', description.standardErrorPath),
    ...inner(
      'environment',
      Object.entries(description.environment).map(([name, value]) => `${name} => ${value}`),
    ),
    '',
    `domain = ${domainName(job.domain)}`,
    ...optional('username', description.userName),
    `minimum runtime = ${description.throttleInterval}`,
    `exit timeout = ${description.exitTimeOut}`,
    `runs = ${runs}`,
    ...(pid === undefined ? [] : [`pid = ${pid}`]),
    exitLine(job.lastExit()),
    '',
    `properties = ${properties.join(' | ')}`,
  ]);
};

export const printLoginwindow = (loginwindow: Loginwindow): string =>
  block(`system/${loginwindowLabel}`, [
    `active count = ${loginwindow.running() ? 1 : 0}`,
    'path = /System/Library/LaunchDaemons/com.apple.loginwindow.plist',
    'type = LaunchDaemon',
    `state = ${loginwindow.running() ? 'running' : 'not running'}`,
    '',
    'program = /System/Library/CoreServices/loginwindow.app/Contents/MacOS/loginwindow',
    `runs = ${loginwindow.runs()}`,
    ...(loginwindow.running() ? [`pid = ${loginwindowPid}`] : []),
  ]);

const services = (jobs: readonly Job[]): string[] =>
  inner(
    'services',
    jobs.map((job) => `${job.view().pid ?? 0}\t${exitStatus(job.lastExit())}\t${job.description.label}`),
  );

/** `launchctl print gui/<uid>`: `session = Aqua` proves a session. */
export const printGui = (uid: number, jobs: readonly Job[]): string =>
  block(`gui/${uid}`, [
    'type = login',
    `handle = ${uid}`,
    `active count = ${jobs.length}`,
    'session = Aqua',
    ...services(jobs),
  ]);

export const printSystem = (jobs: readonly Job[]): string =>
  block('system', ['type = system', 'handle = 0', `active count = ${jobs.length}`, ...services(jobs)]);

/** `launchctl list`: three columns, a dash for no process. */
export const printList = (jobs: readonly Job[], loginwindow: Loginwindow | undefined): string =>
  [
    'PID\tStatus\tLabel',
    ...(loginwindow ? [`${loginwindow.running() ? loginwindowPid : '-'}\t0\t${loginwindowLabel}`] : []),
    ...jobs.map((job) => `${job.view().pid ?? '-'}\t${exitStatus(job.lastExit())}\t${job.description.label}`),
    '',
  ].join('\n');

export const printDisabled = (flags: Readonly<Record<string, boolean>>): string =>
  block(
    'disabled services',
    Object.entries(flags).map(([label, disabled]) => `"${label}" => ${disabled ? 'disabled' : 'enabled'}`),
  );
