import { Command, InvalidArgumentError, Option } from 'commander';
import packageFile from '../package.json' with { type: 'json' };
import { addExplainCommand } from './explain/command.ts';
import { addFleetCommand } from './fleet/command.ts';
import { NotAnsweredError } from './host/ask-secret.ts';
import type { DoctorOptions } from './host/doctor.ts';
import { addOrphansCommand } from './orphans/command.ts';
import { addPodsCommand } from './pods/command.ts';
import { addPoolCommand } from './pool/command.ts';
import { addRollCommand } from './roll/command.ts';
import { inTheWordsOf, type Shell, type Surroundings } from './shell.ts';
import { lookOf } from './show/look.ts';
import { addVersionCommand } from './version/command.ts';

export type { Surroundings } from './shell.ts';

/** Not 1: that means something else to whoever asks in a script whether a Mac differs, or Pods are stuck. */
const wrongArguments = 2;

/** Runs `tartan` with these arguments. Answers the exit code; what went wrong has been said. */
export const tartan = async (args: readonly string[], around: Surroundings, calledAs = 'tartan'): Promise<number> => {
  let code = 0;
  const program = commands(around, calledAs, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    // commander has said what is wrong with the arguments, or shown what was asked for.
    if (error instanceof Error && 'exitCode' in error) return error.exitCode === 0 ? 0 : wrongArguments;
    throw error;
  }
  return code;
};

const port = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('a port is a whole number from 0 (any free one) to 65535.');
  }
  return value;
};

const countOf =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`it is a whole number from ${least} to ${most}.`);
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
    .option('--port <port>', 'port of sshd', port, 22)
    .option('--identity <file>', 'private SSH key that the Mac knows (default: the first of ~/.ssh/id_*)')
    .option('--host-key <fingerprint>', 'SHA256:… that the Mac must show; without it, the one it shows is trusted');

/** Where nobody says how wide a line may be. */
const usualWidth = 100;

/** Each command is loaded when it is called: a doctor needs no simulator. */
export const commands = (around: Surroundings, calledAs: string, end: (code: number) => void): Command => {
  const { stdin, stdout, stderr, env, signal } = around;
  const program = new Command(calledAs)
    .description('Mac minis as Kubernetes nodes whose Pods are macOS virtual machines.')
    .configureOutput({
      writeOut: (text) => stdout.write(inTheWordsOf(calledAs, text)),
      writeErr: (text) => stderr.write(inTheWordsOf(calledAs, text)),
      getOutHelpWidth: () => (stdout.isTTY === true ? (stdout.columns ?? usualWidth) : usualWidth),
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
      stderr.write(`${calledAs} ${name}: ${inTheWordsOf(calledAs, text)}\n`);
      end(signal.aborted || error instanceof NotAnsweredError ? 130 : failed);
    }
  };

  program.commandsGroup('Try it on this machine:');
  program
    .command('up')
    .description('Start a fleet of simulated Macs on this machine and keep it running until Ctrl-C.')
    .option('--port <port>', 'port of the Kubernetes API on 127.0.0.1; 0 takes a free one', port, 0)
    .option('--pool <count>', 'Macs in the pool', countOf(1, 64), 4)
    .option('--machines <count>', 'machines that are asked for', countOf(1, 64), 2)
    .option('--once', 'stop again as soon as a Pod runs on a Mac: exit code 0 says that it works here')
    .addHelpText(
      'after',
      `
What starts is an embedded Kubernetes, a simulated Scaleway with a pool of simulated Macs, and the provider, which claims
Macs for machines and prepares them over SSH. The agent runs on each, as on a real one, and a Pod becomes a virtual machine
of a stand-in for tart. No container, no download, nothing outside one temporary folder, which is removed when it stops.
Real kubectl works against it.

Examples:
  $ tartan up                             start, say what happens and what to try, run until Ctrl-C
  $ tartan up --pool 8 --machines 6       a larger fleet
  $ tartan up --port 6443                 always under the same address
  $ tartan up --once                      check that this machine can run it`,
    )
    .action((options: { port: number; pool: number; machines: number; once?: boolean }) =>
      run(
        'up',
        async () => {
          const [{ up }, { createVoice }] = await Promise.all([import('./up/up.ts'), import('./up/voice.ts')]);
          const voice = createVoice(stdout, lookOf(stdout, env));
          return up({ ...options, once: options.once ?? false }, { voice, stdin, signal });
        },
        1,
      ),
    );

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
        const console = { input: stdin, output: stdout, look: lookOf(stdout, env) };
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
        return doctor({ host, ...options }, { stdout, look: lookOf(stdout, env) }, signal);
      }),
    );

  program.commandsGroup('Look after a cluster:');
  const shell: Shell = { ...around, calledAs, run };
  addFleetCommand(program, shell);
  addExplainCommand(program, shell);
  addPoolCommand(program, shell);
  addOrphansCommand(program, shell);
  addRollCommand(program, shell);
  addPodsCommand(program, shell);

  program.commandsGroup('Help:');
  addVersionCommand(program, shell);
  program.helpCommand('help [command]', 'print the help of a command');
  pointToHelp(program, calledAs);
  return program;
};

/** Whoever gets a command wrong is told of the help of that very command. */
const pointToHelp = (command: Command, name: string): void => {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const each of command.commands) pointToHelp(each, `${name} ${each.name()}`);
};
