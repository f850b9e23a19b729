import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Machine, realPath, type Tool, type ToolResult } from '../machine.ts';

/**
 * An ad-hoc signature: a last line that the language of the file treats as a comment. So a stand-in script still runs, a real executable
 * ignores it, and the sha256 of the file changes as that of a signed Mach-O does.
 */
const signaturePattern = /\n(?:#|\/\/) adhoc-signature [0-9a-f]{64}\n$/;
const signatureLength = '\n// adhoc-signature \n'.length + 64;

/** The file before it was signed here. */
const bodyOf = (file: Buffer): Buffer => {
  const end = file.subarray(Math.max(0, file.length - signatureLength)).toString('latin1');
  const found = signaturePattern.exec(end);
  return found ? file.subarray(0, file.length - found[0].length) : file;
};

const isSignedHere = (file: Buffer): boolean => bodyOf(file).length !== file.length;

/** What the linker signs: Mach-O; here also ELF, and scripts, which stand for executables. */
const isExecutable = (file: Buffer): boolean =>
  ['cffaedfe', 'cafebabe', '7f454c46'].includes(file.subarray(0, 4).toString('hex')) ||
  file.subarray(0, 2).toString('latin1') === '#!';

type Signature = 'ad-hoc' | 'its own' | 'none';

const signatureOf = (file: Buffer): Signature => {
  if (isSignedHere(file)) return 'ad-hoc';
  return isExecutable(file) ? 'its own' : 'none';
};

/** Deterministic. */
const sign = (file: Buffer): Buffer => {
  const body = bodyOf(file);
  const firstLine = body.subarray(0, 80).toString('latin1').split('\n')[0] ?? '';
  const comment = firstLine.startsWith('#!') && firstLine.includes('node') ? '//' : '#';
  const digest = createHash('sha256').update(body).digest('hex');
  return Buffer.concat([body, Buffer.from(`\n${comment} adhoc-signature ${digest}\n`)]);
};

interface Request {
  readonly verb: 'sign' | 'verify' | 'display';
  readonly force: boolean;
  readonly paths: readonly string[];
}

const optionsWithValue = new Set([
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
    if (optionsWithValue.has(arg)) at += 1;
  }
  const has = (short: string, long: string): boolean =>
    flags.some((flag) => flag === long || flag.startsWith(`${long}=`) || new RegExp(`^-[a-z]*${short}`).test(flag));
  const verb = has('s', '--sign') ? 'sign' : has('d', '--display') ? 'display' : 'verify';
  return { verb, force: has('f', '--force'), paths };
};

const failure = (stderr: string): ToolResult => ({ code: 1, stderr: `${stderr}\n` });

/**
 * codesign(1), for ad-hoc signatures of single files. Signing writes a new file and renames it, which repairs a file that was overwritten
 * in place. Leaves the content of bundles unchanged.
 */
export const createCodesign = (machine: Machine): Tool => {
  const { journal, faults } = machine;

  const signFile = (shown: string, file: string, force: boolean, asRoot: boolean): ToolResult => {
    const content = readFileSync(file);
    const isSigned = signatureOf(content) !== 'none';
    if (isSigned && !force) return failure(`${shown}: is already signed`);
    if (!asRoot && machine.ownerOf(file).user === 'root') return failure(`${shown}: Permission denied`);
    const signed = sign(content);
    if (faults.diskFree !== undefined && signed.length > faults.diskFree)
      return failure(`${shown}: No space left on device`);
    const beside = `${file}.cstemp`;
    rmSync(beside, { force: true });
    writeFileSync(beside, signed);
    chmodSync(beside, statSync(file).mode & 0o7777);
    renameSync(beside, file);
    return { code: 0, stderr: isSigned ? `${shown}: replacing existing signature\n` : '' };
  };

  const display = (shown: string, file: string): ToolResult => {
    const signature = signatureOf(readFileSync(file));
    if (signature === 'none') return failure(`${shown}: code object is not signed at all`);
    const flags = signature === 'ad-hoc' ? '0x2(adhoc)' : '0x20002(adhoc,linker-signed)';
    const lines = [
      `Executable=${shown}`,
      `Identifier=${basename(file)}`,
      `CodeDirectory v=20400 flags=${flags}`,
      'Signature=adhoc',
    ];
    return { code: 0, stderr: `${lines.join('\n')}\n` };
  };

  const answerFor = (shown: string, file: string, request: Request, asRoot: boolean): ToolResult => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return failure(`${shown}: No such file or directory`);
    // Bundles keep their signature; tests find the call in the journal.
    if (stats.isDirectory())
      return { code: 0, stderr: request.verb === 'sign' ? `${shown}: replacing existing signature\n` : '' };
    switch (request.verb) {
      case 'sign':
        return signFile(shown, file, request.force, asRoot);
      case 'display':
        return display(shown, file);
      case 'verify':
        return signatureOf(readFileSync(file)) === 'none'
          ? failure(`${shown}: code object is not signed at all`)
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
