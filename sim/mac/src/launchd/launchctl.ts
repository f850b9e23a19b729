import type { Console } from '../console/console.ts';
import { type Machine, realPath, type Tool, type ToolCall, type ToolResult } from '../machine.ts';
import type { DisabledServices, Domains } from './domains.ts';
import { signalOf } from './exit-status.ts';
import type { Job } from './job.ts';
import {
  loginwindowLabel,
  printDisabled,
  printGui,
  printJob,
  printList,
  printLoginwindow,
  printSystem,
} from './launchctl-print.ts';
import { type Domain, domainInWords, errorText, type LaunchdCode, parseTarget, type Target } from './target.ts';

export interface LaunchctlOptions {
  readonly machine: Machine;
  readonly console: Console;
  readonly domains: Domains;
  readonly disabled: DisabledServices;
}

type Subcommand = (args: readonly string[], call: ToolCall) => ToolResult | Promise<ToolResult>;

const done: ToolResult = { code: 0 };
const failure = (code: number, stderr: string): ToolResult => ({ code, stderr: `${stderr}\n` });
const usage = (text: string): ToolResult => failure(64, `Usage: launchctl ${text}`);
/** Without root, launchctl prints less. */
const failureForUser = (what: string): ToolResult =>
  failure(5, `${what} failed: ${errorText(5)}\nTry re-running the command as root for richer errors.`);
const resultFor = (what: string, code: 0 | LaunchdCode): ToolResult =>
  code === 0 ? done : failure(code, `${what} failed: ${errorText(code)}`);
const unknownService = (domain: Domain, label: string): ToolResult =>
  failure(113, `Bad request.\nCould not find service "${label}" in domain for ${domainInWords(domain)}`);

interface ServiceTarget extends Target {
  readonly label: string;
}

/** launchctl, as far as loading, inspecting and restarting jobs needs it. Codes and texts as on macOS. */
export const createLaunchctl = ({ machine, console, domains, disabled }: LaunchctlOptions): Tool => {
  const { journal, faults } = machine;
  const { loginwindow } = console;

  const isLoginwindow = ({ domain, label }: Target): boolean => domain.kind === 'system' && label === loginwindowLabel;

  const serviceOf = (text: string | undefined): ServiceTarget | undefined => {
    const target = parseTarget(text ?? '');
    return target?.label === undefined ? undefined : { ...target, label: target.label };
  };

  const printDomain = (domain: Domain, asRoot: boolean): ToolResult => {
    if (domain.kind === 'system') return { code: 0, stdout: printSystem(domains.jobs(domain)) };
    if (!asRoot) return failure(1, `Could not print domain: ${errorText(1)}`);
    if (!domains.exists(domain)) return failure(125, `Could not print domain: ${errorText(125)}`);
    return { code: 0, stdout: printGui(domain.uid, domains.jobs(domain)) };
  };

  const print: Subcommand = ([text = ''], { asRoot }) => {
    const target = parseTarget(text);
    if (!target) return failure(64, 'Unrecognized target specifier.');
    const { domain, label } = target;
    if (label === undefined) return printDomain(domain, asRoot);
    if (isLoginwindow(target)) return { code: 0, stdout: printLoginwindow(loginwindow) };
    const job = domains.find(domain, label);
    return job ? { code: 0, stdout: printJob(machine, job) } : unknownService(domain, label);
  };

  // Over SSH, `list` shows the user domain, not the GUI domain: no job of Tartan is in it.
  const list: Subcommand = ([label], { asRoot }) => {
    const jobs = asRoot ? domains.jobs({ kind: 'system' }) : [];
    if (label === undefined) return { code: 0, stdout: printList(jobs, asRoot ? loginwindow : undefined) };
    const job = jobs.find(({ description }) => description.label === label);
    if (!job) return failure(113, `Could not find service "${label}" in domain for port`);
    const { pid } = job.view();
    const lines = [`"Label" = "${label}";`, ...(pid === undefined ? [] : [`"PID" = ${pid};`])];
    return { code: 0, stdout: `{\n${lines.map((line) => `\t${line}\n`).join('')}};\n` };
  };

  const bootstrap: Subcommand = ([text = '', ...paths], { asRoot, cwd }) => {
    const target = parseTarget(text);
    if (!target || target.label !== undefined || paths.length === 0)
      return usage('bootstrap <domain-target> [service-path, …]');
    if (!asRoot) return failureForUser('Bootstrap');
    const codes = paths.map((path) => domains.bootstrap(target.domain, realPath(machine, path, cwd)));
    return resultFor('Bootstrap', codes.find((code) => code !== 0) ?? 0);
  };

  const bootout: Subcommand = async ([text = '', ...paths], { asRoot, cwd }) => {
    const target = parseTarget(text);
    if (!target) return usage('bootout <domain-target> [service-path, …] | <service-target>');
    if (!asRoot) return failureForUser('Boot-out');
    if (isLoginwindow(target)) return resultFor('Boot-out', 150);
    const { domain, label } = target;
    if (label !== undefined) return resultFor('Boot-out', await domains.bootout(domain, label));
    if (paths.length === 0) return resultFor('Boot-out', 150);
    const codes = await Promise.all(paths.map((path) => domains.bootoutFile(domain, realPath(machine, path, cwd))));
    return resultFor('Boot-out', codes.find((code) => code !== 0) ?? 0);
  };

  const kickstartJob = async (job: Job, kill: boolean): Promise<void> => {
    journal.record('launchd.kickstart', job.description.label);
    const isRunning = job.view().pid !== undefined;
    // Seen on real hosts: the exit code is 0, and the old process keeps running (requirement C6).
    if (kill && isRunning && faults.kickstart === 'no-op') return;
    if (kill) await job.restart();
    else job.start();
  };

  const kickstart: Subcommand = async (args, { asRoot }) => {
    const flags = args.filter((arg) => arg.startsWith('-')).join('');
    const target = serviceOf(args.find((arg) => !arg.startsWith('-')));
    if (!target) return usage('kickstart [-k] [-p] <service-target>');
    const { domain, label } = target;
    const couldNotKickstart = (code: LaunchdCode): ToolResult =>
      failure(code, `Could not kickstart service "${label}": ${errorText(code)}`);
    if (!asRoot) return couldNotKickstart(1);
    if (isLoginwindow(target)) {
      return loginwindow.kickstart({ kill: flags.includes('k') }) === 'forbidden' ? couldNotKickstart(1) : done;
    }
    if (!domains.exists(domain)) return couldNotKickstart(125);
    const job = domains.jobs(domain).find(({ description }) => description.label === label);
    if (!job) return unknownService(domain, label);
    await kickstartJob(job, flags.includes('k'));
    const { pid } = job.view();
    return flags.includes('p') && pid !== undefined ? { code: 0, stdout: `service spawned with pid: ${pid}\n` } : done;
  };

  const setDisabled =
    (verb: 'disable' | 'enable'): Subcommand =>
    ([text], { asRoot }) => {
      const target = serviceOf(text);
      if (!target) return usage(`${verb} <service-target>`);
      if (!asRoot) return failure(1, `Could not ${verb} service: ${errorText(1)}`);
      disabled.set(target.domain, target.label, verb === 'disable');
      journal.record(`launchd.${verb}`, target.label);
      return done;
    };

  const kill: Subcommand = ([name = '', text], { asRoot }) => {
    const target = serviceOf(text);
    const signal = signalOf(name);
    if (!target || !signal) return usage('kill <signal-name | signal-number> <service-target>');
    if (!asRoot) return failure(1, `Could not signal service: ${errorText(1)}`);
    const job = domains.find(target.domain, target.label);
    if (!job && !isLoginwindow(target)) return unknownService(target.domain, target.label);
    const reached = job ? job.signal(signal) : loginwindow.signal(signal);
    return reached ? done : failure(3, `Could not signal service: ${errorText(3)}`);
  };

  const printDisabledServices: Subcommand = ([text = '']) => {
    const target = parseTarget(text);
    if (!target || target.label !== undefined) return usage('print-disabled <domain-target>');
    return { code: 0, stdout: printDisabled(disabled.all(target.domain)) };
  };

  // The legacy commands act on the domain of the caller, never on the GUI domain (INC-228).
  const legacyLoad: Subcommand = (args) =>
    failure(
      5,
      `Load failed: ${errorText(5)}\nTry running \`launchctl bootstrap\` as root for richer errors. (${args.join(' ')})`,
    );

  const subcommands: Readonly<Record<string, Subcommand>> = {
    print,
    list,
    bootstrap,
    bootout,
    kickstart,
    kill,
    enable: setDisabled('enable'),
    disable: setDisabled('disable'),
    'print-disabled': printDisabledServices,
    load: legacyLoad,
  };

  return (call) => {
    const [name = '', ...args] = call.args;
    const subcommand = subcommands[name];
    return subcommand ? subcommand(args, call) : failure(64, `Unrecognized subcommand: ${name}`);
  };
};
