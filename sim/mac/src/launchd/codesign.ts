import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Machine, Tool, ToolAnswer } from '../machine.ts';
import { realPath } from './paths.ts';
import { sign, signatureOf } from './signature.ts';

interface Request {
  readonly verb: 'sign' | 'verify' | 'display';
  readonly force: boolean;
  readonly paths: readonly string[];
}

const takesAValue = new Set([
  '-s',
  '--sign',
  '-o',
  '--options',
  '-i',
  '--identifier',
  '--entitlements',
  '-r',
  '--prefix',
]);

const parse = (args: readonly string[]): Request => {
  const paths: string[] = [];
  const flags: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg.startsWith('-') && arg !== '-') flags.push(arg);
    else paths.push(arg);
    if (takesAValue.has(arg)) at += 1;
  }
  const has = (short: string, long: string): boolean =>
    flags.some((flag) => flag === long || flag.startsWith(`${long}=`) || new RegExp(`^-[a-z]*${short}`).test(flag));
  const verb = has('s', '--sign') ? 'sign' : has('d', '--display') ? 'display' : 'verify';
  return { verb, force: has('f', '--force'), paths };
};

const no = (stderr: string): ToolAnswer => ({ code: 1, stderr: `${stderr}\n` });

/**
 * codesign(1), for ad-hoc signatures of single files. Signing writes a new file and renames it, which
 * is what cures a file that was overwritten in place. Nothing inside a bundle is touched.
 */
export const createCodesign = (machine: Machine): Tool => {
  const { journal, faults } = machine;

  const signFile = (shown: string, file: string, force: boolean, asRoot: boolean): ToolAnswer => {
    const content = readFileSync(file);
    const isSigned = signatureOf(content) !== 'none';
    if (isSigned && !force) return no(`${shown}: is already signed`);
    if (!asRoot && machine.ownerOf(file).user === 'root') return no(`${shown}: Permission denied`);
    const signed = sign(content);
    if (faults.diskFree !== undefined && signed.length > faults.diskFree)
      return no(`${shown}: No space left on device`);
    const beside = `${file}.cstemp`;
    rmSync(beside, { force: true });
    writeFileSync(beside, signed);
    chmodSync(beside, statSync(file).mode & 0o7777);
    renameSync(beside, file);
    return { code: 0, stderr: isSigned ? `${shown}: replacing existing signature\n` : '' };
  };

  const display = (shown: string, file: string): ToolAnswer => {
    const signature = signatureOf(readFileSync(file));
    if (signature === 'none') return no(`${shown}: code object is not signed at all`);
    const flags = signature === 'ad-hoc' ? '0x2(adhoc)' : '0x20002(adhoc,linker-signed)';
    const lines = [
      `Executable=${shown}`,
      `Identifier=${basename(file)}`,
      `CodeDirectory v=20400 flags=${flags}`,
      'Signature=adhoc',
    ];
    return { code: 0, stderr: `${lines.join('\n')}\n` };
  };

  const answerFor = (shown: string, file: string, request: Request, asRoot: boolean): ToolAnswer => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return no(`${shown}: No such file or directory`);
    // Bundles keep the signature that they came with; signing one is for tests to find in the journal.
    if (stats.isDirectory())
      return { code: 0, stderr: request.verb === 'sign' ? `${shown}: replacing existing signature\n` : '' };
    switch (request.verb) {
      case 'sign':
        return signFile(shown, file, request.force, asRoot);
      case 'display':
        return display(shown, file);
      case 'verify':
        return signatureOf(readFileSync(file)) === 'none'
          ? no(`${shown}: code object is not signed at all`)
          : { code: 0 };
    }
  };

  return ({ args, cwd, asRoot }) => {
    const request = parse(args);
    if (request.paths.length === 0) return { code: 2, stderr: 'Usage: codesign -s identity [-fv*] path ...\n' };
    const answers = request.paths.map((shown) => {
      const file = realPath(machine, shown, cwd);
      if (request.verb === 'sign') journal.record('codesign', shown);
      return answerFor(shown, file, request, asRoot);
    });
    return {
      code: Math.max(...answers.map(({ code }) => code)),
      stderr: answers.map(({ stderr }) => stderr ?? '').join(''),
    };
  };
};
