import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeScript } from '../engine/compose-script.ts';
import { stepRun } from '../engine/execute-step.ts';
import { hostSteps } from '../steps/index.ts';
import { exampleSpec } from './example-spec.ts';

/** Part of `npm run check`: checks every script and installed program of a host with the shells and shellcheck. */

const scripts = join(import.meta.dirname, '../../scripts');
const folder = mkdtempSync(join(tmpdir(), 'tartan-lint-'));
const options = { verb: 'converge', hash: 'a hash', lockOwner: 'somebody', idle: true } as const;

/** Replaces values, which shellcheck would otherwise check too. */
const withoutValues = (script: string): string =>
  script.replace(/^([A-Z][A-Z0-9_]*)='(?:[^']|'\\'')*'$/gm, "$1='value'");

const composed = (): Record<string, string> => {
  const spec = exampleSpec(join(folder, 'artifacts'));
  const steps = hostSteps.map((step) => [step.name, withoutValues(stepRun(step, spec, {}, options).script)]);
  const artifact = { SHA256: 'a', SIZE: '1', RESERVE: '1' };
  return {
    ...Object.fromEntries(steps),
    inventory: composeScript('inventory', {}),
    lock: composeScript('lock', { VERB: 'acquire', LOCK_OWNER: 'somebody' }),
    'roll-back-agent': composeScript('roll-back-agent', { LOCK_OWNER: 'somebody', STEP: 'roll-back-agent' }),
    'push-artifact': composeScript('push-artifact', { VERB: 'look', ...artifact }),
    tidy: composeScript('tidy', { ARTIFACTS: '', STAMPS: '', REBOOT_MARK: 'no', LOCK_OWNER: '', STEP: 'tidy' }),
  };
};

const programs = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(scripts, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.sh'))
      .map(
        (file) => [file.replaceAll('/', '-').replace(/\.sh$/, ''), readFileSync(join(scripts, file), 'utf8')] as const,
      )
      .filter(([, text]) => text.startsWith('#!')),
  );

/** The complaints of the checker; `undefined` when it is not installed. */
const ask = (reader: string, args: readonly string[], files: readonly string[]): string | undefined => {
  const { error, status, stdout, stderr } = spawnSync(reader, [...args, ...files], { cwd: folder, encoding: 'utf8' });
  if (error !== undefined) return undefined;
  return status === 0 ? '' : `${reader}:\n${stdout}${stderr}`;
};

const judge = (): string[] => {
  const files = Object.entries({ ...composed(), ...programs() }).map(([name, text]) => {
    writeFileSync(join(folder, `${name}.sh`), text);
    return `${name}.sh`;
  });
  const syntax = ['dash', 'bash'].flatMap((shell) => files.map((file) => ask(shell, ['-n'], [file]) ?? ''));
  const found = ask('shellcheck', ['-s', 'sh', '-f', 'gcc'], files);
  if (found !== undefined) return [...syntax, found].filter((text) => text !== '');
  const missing =
    'shellcheck is not installed, so only the shells have read the scripts. See https://www.shellcheck.net';
  const isError = process.env['CI'] === 'true';
  if (!isError) process.stdout.write(`notice: ${missing}\n`);
  return [...syntax, isError ? `${missing}\n` : ''].filter((text) => text !== '');
};

try {
  const objections = judge();
  for (const text of objections) process.stdout.write(text);
  process.exitCode = objections.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
