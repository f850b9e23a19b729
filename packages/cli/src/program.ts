import { Command, Option } from 'commander';
import packageFile from '../package.json' with { type: 'json' };
import { addArtifactsCommand } from './artifacts/command.ts';
import { parsePort } from './command-options.ts';
import { addExplainCommand } from './explain/command.ts';
import { addFaultCommand } from './fault/command.ts';
import { NotAnsweredError } from './host/ask-secret.ts';
import type { Target } from './host/connect.ts';
import type { DoctorOptions } from './host/doctor.ts';
import { escapingStream, textStyleFor } from './output/terminal-text.ts';
import { addPodsCommand } from './pods/command.ts';
import { addRollCommand } from './roll/command.ts';
import { addRunnersCommand } from './runners/command.ts';
import { NotDoneError, type ProcessContext, type Shell, withCommandName } from './shell.ts';
import { addUpCommand } from './up/command.ts';
import { addFleetCommand, addOrphansCommand, addPoolCommand, addVersionCommand } from './views/commands.ts';

export type { ProcessContext } from './shell.ts';

/** Not 1: for scripts that means that a Mac differs, or Pods are stuck. */
const usageExitCode = 2;

/** Runs `tartan` with these arguments. Returns the exit code; errors are already printed. */
export const tartan = async (
  args: readonly string[],
  context: ProcessContext,
  commandName = 'tartan',
): Promise<number> => {
  let code = 0;
  const program = commands(context, commandName, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    // commander has printed the error or the help.
    if (error instanceof Error && 'exitCode' in error) return error.exitCode === 0 ? 0 : usageExitCode;
    throw error;
  }
  return code;
};

type HostOptions = Omit<Target, 'host'>;

const withHostOptions = (command: Command): Command =>
  command
    .argument('<host>', 'address or name of the Mac')
    .option('--user <name>', 'user that logs in, owns the console session and runs the agent', 'm1')
    .option('--port <port>', 'port of sshd', parsePort, 22)
    .option('--identity <file>', 'private SSH key that the Mac accepts (default: the first of ~/.ssh/id_*)')
    .option('--host-key <fingerprint>', 'required host key, as SHA256:… (default: trust the host key on first use)');

const defaultWidth = 100;

/** Each command is loaded when it is called. */
export const commands = (processContext: ProcessContext, commandName: string, end: (code: number) => void): Command => {
  const context = {
    ...processContext,
    stdout: escapingStream(processContext.stdout),
    stderr: escapingStream(processContext.stderr),
  };
  const { stdin, stdout, stderr, env, signal } = context;
  const program = new Command(commandName)
    .description('Mac minis as Kubernetes nodes whose Pods are macOS virtual machines.')
    .configureOutput({
      writeOut: (text) => stdout.write(withCommandName(commandName, text)),
      writeErr: (text) => stderr.write(withCommandName(commandName, text)),
      getOutHelpWidth: () => (stdout.isTTY === true ? (stdout.columns ?? defaultWidth) : defaultWidth),
    })
    .exitOverride()
    .version(packageFile.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText(
      'after',
      `
Start with: tartan up. Each command has its own --help, with examples and exit codes. In a checkout: npm run tartan -- COMMAND.`,
    );

  const run = async (name: string, command: () => Promise<number>, failed = 2): Promise<void> => {
    try {
      end(await command());
    } catch (error) {
      const text = signal.aborted ? 'interrupted.' : error instanceof Error ? error.message : String(error);
      stderr.write(`${commandName} ${name}: ${withCommandName(commandName, text)}\n`);
      const isInterrupted = signal.aborted || error instanceof NotAnsweredError;
      end(isInterrupted ? 130 : error instanceof NotDoneError ? 1 : failed);
    }
  };

  const shell: Shell = { ...context, commandName, run };
  program.commandsGroup('Try it on this machine:');
  addUpCommand(program, shell);
  addFaultCommand(program, shell);

  program.commandsGroup('Manage one Mac:');
  withHostOptions(program.command('prepare-host'))
    .description('Prepare one Mac by hand: passwordless sudo, power settings, and a verified console session.')
    .option('--busy', 'skip steps that would stop running virtual machines')
    .addHelpText(
      'after',
      `
Asks for the password of the user on the Mac without echoing it. The password is sent over SSH only. It is never part of an argument
or a log, and is stored only in the file that macOS uses for automatic login. The command can be repeated: it changes only what differs.

The command detects a wrong password: it reads back what macOS has stored. It never tries a password twice.

Examples:
  $ tartan prepare-host 51.15.1.2 --identity ~/.ssh/fleet
  $ pass show mac-7 | tartan prepare-host 51.15.1.2       read the password from standard input

Exit codes: 0 prepared; 1 a step failed, and the output says why; 2 the Mac is unreachable, or no password was given; 130 interrupted.`,
    )
    .action((host: string, { busy = false, ...options }: HostOptions & { busy?: boolean }) =>
      run('prepare-host', async () => {
        const { prepareHost } = await import('./host/prepare-host.ts');
        const console = { input: stdin, output: stdout, style: textStyleFor(stdout, env) };
        return prepareHost({ host, ...options, busy }, console, signal);
      }),
    );

  withHostOptions(program.command('doctor'))
    .description('Compare a Mac with its desired configuration and list the differences. Changes nothing.')
    .option('--spec <file>', 'desired configuration, in YAML or JSON (default: what every Mac must have)')
    .addOption(new Option('--output <form>', 'output format').choices(['text', 'tsv', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  $ tartan doctor 51.15.1.2
  $ tartan doctor 51.15.1.2 --spec mac.yaml --output tsv | awk -F'\\t' '$2 == "different"'

Exit codes: 0 no difference; 1 something differs; 2 the Mac cannot be read.`,
    )
    .action((host: string, options: HostOptions & Pick<DoctorOptions, 'spec' | 'output'>) =>
      run('doctor', async () => {
        const { doctor } = await import('./host/doctor.ts');
        return doctor({ host, ...options }, { stdout, style: textStyleFor(stdout, env) }, signal);
      }),
    );

  program.commandsGroup('Operate a cluster:');
  addFleetCommand(program, shell);
  addExplainCommand(program, shell);
  addPoolCommand(program, shell);
  addRunnersCommand(program, shell);
  addOrphansCommand(program, shell);
  addRollCommand(program, shell);
  addPodsCommand(program, shell);

  program.commandsGroup('Build an image:');
  addArtifactsCommand(program, shell);

  program.commandsGroup('Help:');
  addVersionCommand(program, shell);
  program.helpCommand('help [command]', 'print the help of a command');
  addHelpHints(program, commandName);
  return program;
};

/** After a usage error, names the help of that command. */
const addHelpHints = (command: Command, name: string): void => {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const each of command.commands) addHelpHints(each, `${name} ${each.name()}`);
};
