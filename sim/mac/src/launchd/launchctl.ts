import type { Console } from '../console/console.ts';
import type { Machine, Tool, ToolAnswer, ToolCall } from '../machine.ts';
import { codeText, type LaunchdCode } from './codes.ts';
import type { DisabledServices } from './disabled-services.ts';
import type { Domains } from './domains.ts';
import type { Job } from './job.ts';
import { realPath } from './paths.ts';
import {
  loginwindowLabel,
  printDisabled,
  printGui,
  printJob,
  printList,
  printLoginwindow,
  printSystem,
} from './print.ts';
import { signalOf } from './signal-name.ts';
import { type Domain, domainInWords, parseTarget, type Target } from './target.ts';

export interface LaunchctlOptions {
  readonly machine: Machine;
  readonly console: Console;
  readonly domains: Domains;
  readonly disabled: DisabledServices;
}

type Subcommand = (args: readonly string[], call: ToolCall) => ToolAnswer | Promise<ToolAnswer>;

const done: ToolAnswer = { code: 0 };
const no = (code: number, stderr: string): ToolAnswer => ({ code, stderr: `${stderr}\n` });
const usage = (text: string): ToolAnswer => no(64, `Usage: launchctl ${text}`);
/** Whoever is not root learns less. */
const richerAsRoot = (what: string): ToolAnswer =>
  no(5, `${what} failed: ${codeText(5)}\nTry re-running the command as root for richer errors.`);
const verdict = (what: string, code: 0 | LaunchdCode): ToolAnswer =>
  code === 0 ? done : no(code, `${what} failed: ${codeText(code)}`);
const unknownService = (domain: Domain, label: string): ToolAnswer =>
  no(113, `Bad request.\nCould not find service "${label}" in domain for ${domainInWords(domain)}`);

interface ServiceTarget extends Target {
  readonly label: string;
}

/** launchctl, as far as jobs are loaded, watched and restarted with it. Codes and texts as on macOS. */
export const createLaunchctl = ({ machine, console, domains, disabled }: LaunchctlOptions): Tool => {
  const { journal, faults } = machine;
  const { loginwindow } = console;

  const isLoginwindow = ({ domain, label }: Target): boolean => domain.kind === 'system' && label === loginwindowLabel;

  const serviceOf = (text: string | undefined): ServiceTarget | undefined => {
    const target = parseTarget(text ?? '');
    return target?.label === undefined ? undefined : { ...target, label: target.label };
  };

  const printDomain = (domain: Domain, asRoot: boolean): ToolAnswer => {
    if (domain.kind === 'system') return { code: 0, stdout: printSystem(domains.jobs(domain)) };
    if (!asRoot) return no(1, `Could not print domain: ${codeText(1)}`);
    if (!domains.exists(domain)) return no(125, `Could not print domain: ${codeText(125)}`);
    return { code: 0, stdout: printGui(domain.uid, domains.jobs(domain)) };
  };

  const print: Subcommand = ([text = ''], { asRoot }) => {
    const target = parseTarget(text);
    if (!target) return no(64, 'Unrecognized target specifier.');
    const { domain, label } = target;
    if (label === undefined) return printDomain(domain, asRoot);
    if (isLoginwindow(target)) return { code: 0, stdout: printLoginwindow(loginwindow) };
    const job = domains.find(domain, label);
    return job ? { code: 0, stdout: printJob(machine, job) } : unknownService(domain, label);
  };

  // Over SSH the user's own domain is asked, which is not that of the screen: nothing of ours is in it.
  const list: Subcommand = ([label], { asRoot }) => {
    const jobs = asRoot ? domains.jobs({ kind: 'system' }) : [];
    if (label === undefined) return { code: 0, stdout: printList(jobs, asRoot ? loginwindow : undefined) };
    const job = jobs.find(({ description }) => description.label === label);
    if (!job) return no(113, `Could not find service "${label}" in domain for port`);
    const { pid } = job.view();
    const lines = [`"Label" = "${label}";`, ...(pid === undefined ? [] : [`"PID" = ${pid};`])];
    return { code: 0, stdout: `{\n${lines.map((line) => `\t${line}\n`).join('')}};\n` };
  };

  const bootstrap: Subcommand = ([text = '', ...paths], { asRoot, cwd }) => {
    const target = parseTarget(text);
    if (!target || target.label !== undefined || paths.length === 0)
      return usage('bootstrap <domain-target> [service-path, …]');
    if (!asRoot) return richerAsRoot('Bootstrap');
    const codes = paths.map((path) => domains.bootstrap(target.domain, realPath(machine, path, cwd)));
    return verdict('Bootstrap', codes.find((code) => code !== 0) ?? 0);
  };

  const bootout: Subcommand = async ([text = '', ...paths], { asRoot, cwd }) => {
    const target = parseTarget(text);
    if (!target) return usage('bootout <domain-target> [service-path, …] | <service-target>');
    if (!asRoot) return richerAsRoot('Boot-out');
    if (isLoginwindow(target)) return verdict('Boot-out', 150);
    const { domain, label } = target;
    if (label !== undefined) return verdict('Boot-out', await domains.bootout(domain, label));
    if (paths.length === 0) return verdict('Boot-out', 150);
    const codes = await Promise.all(paths.map((path) => domains.bootoutFile(domain, realPath(machine, path, cwd))));
    return verdict('Boot-out', codes.find((code) => code !== 0) ?? 0);
  };

  const kick = async (job: Job, kill: boolean): Promise<void> => {
    journal.record('launchd.kickstart', job.description.label);
    const isRunning = job.view().pid !== undefined;
    // Seen on record: the answer is 0, and the old process goes on (C6).
    if (kill && isRunning && faults.kickstart === 'no-op') return;
    if (kill) await job.restart();
    else job.start();
  };

  const kickstart: Subcommand = async (args, { asRoot }) => {
    const flags = args.filter((arg) => arg.startsWith('-')).join('');
    const target = serviceOf(args.find((arg) => !arg.startsWith('-')));
    if (!target) return usage('kickstart [-k] [-p] <service-target>');
    const { domain, label } = target;
    const could = (code: LaunchdCode): ToolAnswer =>
      no(code, `Could not kickstart service "${label}": ${codeText(code)}`);
    if (!asRoot) return could(1);
    if (isLoginwindow(target)) {
      return loginwindow.kickstart({ kill: flags.includes('k') }) === 'forbidden' ? could(1) : done;
    }
    if (!domains.exists(domain)) return could(125);
    const job = domains.jobs(domain).find(({ description }) => description.label === label);
    if (!job) return unknownService(domain, label);
    await kick(job, flags.includes('k'));
    const { pid } = job.view();
    return flags.includes('p') && pid !== undefined ? { code: 0, stdout: `service spawned with pid: ${pid}\n` } : done;
  };

  const setDisabled =
    (verb: 'disable' | 'enable'): Subcommand =>
    ([text], { asRoot }) => {
      const target = serviceOf(text);
      if (!target) return usage(`${verb} <service-target>`);
      if (!asRoot) return no(1, `Could not ${verb} service: ${codeText(1)}`);
      disabled.set(target.domain, target.label, verb === 'disable');
      journal.record(`launchd.${verb}`, target.label);
      return done;
    };

  const kill: Subcommand = ([name = '', text], { asRoot }) => {
    const target = serviceOf(text);
    const signal = signalOf(name);
    if (!target || !signal) return usage('kill <signal-name | signal-number> <service-target>');
    if (!asRoot) return no(1, `Could not signal service: ${codeText(1)}`);
    const job = domains.find(target.domain, target.label);
    if (!job && !isLoginwindow(target)) return unknownService(target.domain, target.label);
    const reached = job ? job.signal(signal) : loginwindow.signal(signal);
    return reached ? done : no(3, `Could not signal service: ${codeText(3)}`);
  };

  const printDisabledServices: Subcommand = ([text = '']) => {
    const target = parseTarget(text);
    if (!target || target.label !== undefined) return usage('print-disabled <domain-target>');
    return { code: 0, stdout: printDisabled(disabled.all(target.domain)) };
  };

  // The old way reaches the domain of the caller, never that of the screen (INC-228).
  const loadTheOldWay: Subcommand = (args) =>
    no(
      5,
      `Load failed: ${codeText(5)}\nTry running \`launchctl bootstrap\` as root for richer errors. (${args.join(' ')})`,
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
    load: loadTheOldWay,
  };

  return (call) => {
    const [name = '', ...args] = call.args;
    const subcommand = subcommands[name];
    return subcommand ? subcommand(args, call) : no(64, `Unrecognized subcommand: ${name}`);
  };
};
