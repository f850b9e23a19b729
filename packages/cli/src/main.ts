#!/usr/bin/env node
import { Command, InvalidArgumentError } from 'commander';
import { up } from './up.ts';

const port = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('a port is a whole number from 0 (any free one) to 65535.');
  }
  return value;
};

const program = new Command('tartan')
  .description('Mac minis as Kubernetes nodes whose Pods are macOS virtual machines.')
  .showHelpAfterError('(see tartan up --help)');

program
  .command('up')
  .description('Start a control plane on this machine and keep it running until Ctrl-C.')
  .option('--port <port>', 'port of the Kubernetes API on 127.0.0.1; 0 takes a free one', port, 0)
  .option('--once', 'stop again as soon as everything answers: exit code 0 says that it works here')
  .addHelpText(
    'after',
    `
What starts is an embedded Kubernetes: no container, no download, nothing outside one temporary folder, which is
removed when it stops. Real kubectl works against it.

Examples:
  $ tartan up                   start, print how to use it, run until Ctrl-C
  $ tartan up --port 6443       always under the same address
  $ tartan up --once            check that this machine can run it`,
  )
  .action(async (options: { port: number; once?: boolean }) => {
    process.exitCode = await up({ port: options.port, once: options.once ?? false });
  });

await program.parseAsync();
