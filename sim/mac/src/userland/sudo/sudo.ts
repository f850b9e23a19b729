import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '@tartan/kube/clock';
import type { Machine, Tool, ToolResult } from '../../machine.ts';
import type { ShellResult, ShellTool } from '../tool-calls.ts';
import { quote, shellCallFunctions } from '../tool-stubs.ts';
import { parseSudoArguments, type SudoArguments } from './arguments.ts';
import { isIncludedFile, needsNoPassword, parseSudoers } from './sudoers.ts';

/** Wrong passwords lock an account for a while (INC-207). Apple documents neither number. */
export const maxFailures = 5;
export const unlockAfterMs = 10 * 60_000;

/** opendirectory's count of failed logins of one account. */
interface Lockout {
  isLocked(): boolean;
  /** Also while locked: every attempt restarts the wait (INC-207). */
  failed(): void;
  succeeded(): void;
}

export const createLockout = (clock: Clock): Lockout => {
  let failures = 0;
  let lastAttempt = 0;
  const decay = (): void => {
    if (failures > 0 && clock.monotonic() - lastAttempt >= unlockAfterMs) failures = 0;
  };
  return {
    isLocked: () => {
      decay();
      return failures >= maxFailures;
    },
    failed: () => {
      decay();
      failures += 1;
      lastAttempt = clock.monotonic();
    },
    succeeded: () => {
      failures = 0;
    },
  };
};

/**
 * sudo is replaced by its command, with the caller's standard input, so it gets its answers as shell: run this, ask for a password, or an
 * error. A password is read byte by byte up to its newline; the command gets the rest of the input.
 */
export const sudoStub = (real: string): string => `#!/bin/sh
${shellCallFunctions(real)}
call sudo "$@"
while :; do
  printf %s "$prompt" >&2
  if IFS= read -r password; then complete=yes; else complete=no; fi
  call sudo.password "$attempt" "$complete" "$password" "$@"
done
`;

/** The variables that stock macOS keeps despite env_reset, surprisingly also HOME. TARTAN_ROOT stands for chroot. */
const keptVariables: readonly string[] = `
  BLOCKSIZE CHARSET COLUMNS DISPLAY EDITOR LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY
  LC_NUMERIC LC_TIME LINES LSCOLORS MAIL PATH SSH_AUTH_SOCK TERM TZ VISUAL
`
  .trim()
  .split(/\s+/);

/** sudo(8) asks three times (passwd_tries). */
const maxAttempts = 3;

type Rights = { readonly noPassword: boolean } | { readonly broken: string };

const error = (text: string): ToolResult => ({ code: 1, stderr: `${text}\n` });

const macPath = (machine: Machine, path: string): string => path.slice(machine.root.length).replace(/^\/private/, '');

/** The rights from the files in /etc/sudoers.d. One invalid file breaks sudo for all users. */
const rights = (machine: Machine, command: string): Rights => {
  const folder = machine.path('/etc/sudoers.d');
  const names = readdirSync(folder).filter(isIncludedFile).sort();
  const grants = [];
  for (const name of names) {
    const path = join(folder, name);
    const shown = macPath(machine, path);
    const mode = statSync(path).mode & 0o7777;
    if (mode !== 0o440 && mode !== 0o400) {
      return { broken: `sudo: ${shown} is mode 0${mode.toString(8)}, should be 0440` };
    }
    const owner = machine.ownerOf(path).user;
    if (owner !== 'root') return { broken: `sudo: ${shown} is owned by ${owner}, should be root` };
    const parsed = parseSudoers(readFileSync(path, 'utf8'));
    if ('errorInLine' in parsed) return { broken: `sudo: ${shown}:${parsed.errorInLine}: syntax error` };
    grants.push(...parsed.grants);
  }
  return { noPassword: needsNoPassword(grants, machine.user.name, ['admin', 'staff'], command) };
};

/** Executes the command as root, with the caller's standard streams and a clean environment. */
const runCommand = (machine: Machine, env: string, asked: SudoArguments): ToolResult | ShellResult => {
  if (asked.action !== 'run') return { code: 0 };
  const command = asked.shell
    ? ['/bin/sh', ...(asked.command.length === 0 ? [] : ['-c', asked.command.join(' ')])]
    : asked.command;
  const toUser = asked.user === 'root' || asked.user === '#0' ? 'root' : 'user';
  if (toUser === 'user' && asked.user !== machine.user.name && asked.user !== `#${machine.user.uid}`) {
    return error(`sudo: unknown user ${asked.user}\nsudo: error initializing audit plugin sudoers_audit`);
  }
  const target = machine.environment(toUser);
  const set: Record<string, string> = {
    ...target,
    SUDO_USER: machine.user.name,
    SUDO_UID: String(machine.user.uid),
    SUDO_GID: '20',
    SUDO_COMMAND: command.join(' ').slice(0, 4096),
  };
  delete set['PATH'];
  if (!asked.setHome) delete set['HOME'];
  const words = [
    env,
    ...(asked.keepEnvironment ? [] : ['-i']),
    ...[...keptVariables, ...(asked.setHome ? [] : ['HOME'])].map((name) => `\${${name}+"${name}=$${name}"}`),
    ...Object.entries(set).map(([name, value]) => quote(`${name}=${value}`)),
    ...asked.assignments.map(quote),
    ...command.map(quote),
  ];
  return { shell: `exec ${words.join(' ')} 3<&-` };
};

/** sudo(8) and visudo(8) of macOS, with their texts and codes. `env` is the real tool that starts the command. */
export const createSudo = (
  machine: Machine,
  lockout: () => Lockout,
  env: string,
): Readonly<Record<'sudo' | 'sudo.password', ShellTool> & Record<'visudo', Tool>> => {
  const parse = (args: readonly string[]): SudoArguments | ToolResult => {
    const asked = parseSudoArguments(args);
    if ('unknown' in asked) {
      return { code: 1, stderr: `sudo: unrecognized option \`${asked.unknown}'\nusage: sudo -h | -K | -k | -V\n` };
    }
    if (asked.action === 'run' && !asked.shell && asked.command.length === 0) {
      return { code: 1, stderr: 'usage: sudo -h | -K | -k | -V\n' };
    }
    return asked;
  };

  return {
    sudo: ({ args, asRoot }) => {
      const asked = parse(args);
      if ('code' in asked) return asked;
      if (asked.action === 'forget') return { code: 0 };
      const granted = rights(machine, asked.command[0] ?? '');
      if ('broken' in granted) return error(`${granted.broken}\nsudo: error initializing audit plugin sudoers_audit`);
      if (asRoot || granted.noPassword) return runCommand(machine, env, asked);
      if (asked.nonInteractive) return error('sudo: a password is required');
      if (!asked.fromStdin) {
        return error(
          'sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper\nsudo: a password is required',
        );
      }
      return { shell: `attempt=1 prompt=${quote(asked.prompt)}` };
    },

    'sudo.password': ({ args: [attemptText = '1', complete, password, ...args] }) => {
      const asked = parse(args);
      if ('code' in asked) return asked;
      const attempt = Number(attemptText);
      const incorrect = (count: number): string =>
        count === 0 ? '' : `sudo: ${count} incorrect password attempt${count === 1 ? '' : 's'}\n`;
      if (complete !== 'yes') {
        // An incomplete line is not a password, even if it is correct.
        if (attempt === 1) machine.journal.record('sudo.password', 'none');
        const wrong = incorrect(attempt - 1);
        return { code: 1, stderr: `\nsudo: no password was provided\n${wrong || 'sudo: a password is required\n'}` };
      }
      if (lockout().isLocked()) {
        lockout().failed();
        machine.journal.record('sudo.password', 'locked');
      } else if (password === machine.user.password) {
        lockout().succeeded();
        machine.journal.record('sudo.password', 'right');
        return runCommand(machine, env, asked);
      } else {
        lockout().failed();
        machine.journal.record('sudo.password', 'wrong');
      }
      if (attempt >= maxAttempts) return { code: 1, stderr: incorrect(attempt) };
      return { shell: `attempt=${attempt + 1}\necho 'Sorry, try again.' >&2` };
    },

    visudo: ({ args, cwd }) => {
      const file = args.at(-1) ?? '';
      if (!/^-c[qs]*f?$/.test(args[0] ?? '') || !args.some((arg) => /^-\w*f$/.test(arg))) {
        return { code: 1, stderr: 'usage: visudo [-chqsV] [[-f] sudoers ]\n' };
      }
      let text: string;
      try {
        text = readFileSync(resolve(cwd, file), 'utf8');
      } catch {
        return error(`visudo: unable to open ${file}: No such file or directory`);
      }
      const parsed = parseSudoers(text);
      if ('errorInLine' in parsed) return error(`${file}:${parsed.errorInLine}: syntax error`);
      return { code: 0, stdout: `${file}: parsed OK\n` };
    },
  };
};
