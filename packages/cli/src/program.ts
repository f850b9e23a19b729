import { Command, Option } from 'commander';
import packageFile from '../package.json' with { type: 'json' };
import { addArtifactsCommand } from './artifacts/command.ts';
import { parsePort } from './command-options.ts';
import { addExplainCommand } from './explain/command.ts';
import { addFaultCommand } from './fault/command.ts';
import { NotAnsweredError } from './host/ask-secret.ts';
import type { DoctorOptions } from './host/doctor.ts';
import { escapingStream, textStyleFor } from './output/terminal-text.ts';
import { addPodsCommand } from './pods/command.ts';
import { addRollCommand } from './roll/command.ts';
import { addRunnersCommand } from './runners/command.ts';
import { type ProcessContext, type Shell, withCommandName } from './shell.ts';
import { addUpCommand } from './up/command.ts';
import { addFleetCommand, addOrphansCommand, addPoolCommand, addVersionCommand } from './views/commands.ts';

export type { ProcessContext } from './shell.ts';

/** Not 1: that means something else to whoever asks in a script whether a Mac differs, or Pods are stuck. */
const usageExitCode = 2;

/** Runs `tartan` with these arguments. Answers the exit code; what went wrong has been said. */
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
    // commander has said what is wrong with the arguments, or shown what was asked for.
    if (error instanceof Error && 'exitCode' in error) return error.exitCode === 0 ? 0 : usageExitCode;
    throw error;
  }
  return code;
};

interface HostOptions {
  user: string;
  port: number;
  identity?: string;
  hostKey?: string;
}

const withHostOptions = (command: Command): Command =>
  command
    .argument('<host>', 'address or name of the Mac')
    .option('--user <name>', 'who logs in, owns the console and runs the agent', 'm1')
    .option('--port <port>', 'port of sshd', parsePort, 22)
    .option('--identity <file>', 'private SSH key that the Mac knows (default: the first of ~/.ssh/id_*)')
    .option('--host-key <fingerprint>', 'SHA256:… that the Mac must show; without it, the one it shows is trusted');

/** Where nobody says how wide a line may be. */
const defaultWidth = 100;

/** Each command is loaded when it is called: a doctor needs no simulator. */
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
    .helpOption('-h, --help', 'print this')
    .addHelpText(
      'after',
      `
Begin with: tartan up. Each command has its own --help, with examples and exit codes. In a checkout: npm run tartan -- COMMAND.`,
    );

  /** What a command of ours rejects with is made for people. */
  const run = async (name: string, command: () => Promise<number>, failed = 2): Promise<void> => {
    try {
      end(await command());
    } catch (error) {
      const text = signal.aborted ? 'stopped.' : error instanceof Error ? error.message : String(error);
      stderr.write(`${commandName} ${name}: ${withCommandName(commandName, text)}\n`);
      end(signal.aborted || error instanceof NotAnsweredError ? 130 : failed);
    }
  };

  const shell: Shell = { ...context, commandName, run };
  program.commandsGroup('Try it on this machine:');
  addUpCommand(program, shell);
  addFaultCommand(program, shell);

  program.commandsGroup('Look after one Mac:');
  withHostOptions(program.command('prepare-host'))
    .description('Prepare one Mac by hand: root without a password, power settings, a console session that is proven.')
    .option('--busy', 'virtual machines run on it: leave out what would kill them')
    .addHelpText(
      'after',
      `
Asks for the password of the Mac's user, without showing it. It travels inside SSH only, and never gets into an argument,
a log or a file but the one from which macOS logs the user in. Safe to repeat: what is right already is left alone.

A wrong password is found out: macOS seals the stored one, which is read back and reported. None is tried twice.

Examples:
  $ tartan prepare-host 51.15.1.2 --identity ~/.ssh/fleet
  $ pass show mac-7 | tartan prepare-host 51.15.1.2       take the password from the standard input

Exit codes: 0 prepared; 1 a step failed, and says why; 2 the Mac was not reached, or no password was given; 130 stopped.`,
    )
    .action((host: string, { busy = false, ...options }: HostOptions & { busy?: boolean }) =>
      run('prepare-host', async () => {
        const { prepareHost } = await import('./host/prepare-host.ts');
        const console = { input: stdin, output: stdout, style: textStyleFor(stdout, env) };
        return prepareHost({ host, ...options, busy }, console, signal);
      }),
    );

  withHostOptions(program.command('doctor'))
    .description('Read a Mac back and list what differs from what would be pushed. Changes nothing.')
    .option('--spec <file>', 'what the Mac should be, in YAML or JSON; without it, only what every Mac must have')
    .addOption(new Option('--output <form>', 'how to print it').choices(['text', 'tsv', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  $ tartan doctor 51.15.1.2
  $ tartan doctor 51.15.1.2 --spec mac.yaml --output tsv | awk -F'\\t' '$2 == "different"'

Exit codes: 0 as wanted; 1 something differs; 2 could not look.`,
    )
    .action((host: string, options: HostOptions & Pick<DoctorOptions, 'spec' | 'output'>) =>
      run('doctor', async () => {
        const { doctor } = await import('./host/doctor.ts');
        return doctor({ host, ...options }, { stdout, style: textStyleFor(stdout, env) }, signal);
      }),
    );

  program.commandsGroup('Look after a cluster:');
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

/** Whoever gets a command wrong is told of the help of that very command. */
const addHelpHints = (command: Command, name: string): void => {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const each of command.commands) addHelpHints(each, `${name} ${each.name()}`);
};
