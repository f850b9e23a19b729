import { createHash } from 'node:crypto';

/**
 * An ad-hoc signature, as a last line that the file's own language reads as a comment: a stand-in that is a script still runs with
 * it, a real executable does not look behind its end, and the sha256 of the file changes as that of a signed Mach-O does.
 */
const pattern = /\n(?:#|\/\/) adhoc-signature [0-9a-f]{64}\n$/;
const length = '\n// adhoc-signature \n'.length + 64;

/** The file as it was before it was signed here. */
const bodyOf = (file: Buffer): Buffer => {
  const end = file.subarray(Math.max(0, file.length - length)).toString('latin1');
  const found = pattern.exec(end);
  return found ? file.subarray(0, file.length - found[0].length) : file;
};

const isSignedHere = (file: Buffer): boolean => bodyOf(file).length !== file.length;

/** What the linker signs by itself: Mach-O; here also ELF, and scripts, which stand for executables. */
const isExecutable = (file: Buffer): boolean =>
  ['cffaedfe', 'cafebabe', '7f454c46'].includes(file.subarray(0, 4).toString('hex')) ||
  file.subarray(0, 2).toString('latin1') === '#!';

export type Signature = 'ad-hoc' | 'its own' | 'none';

export const signatureOf = (file: Buffer): Signature => {
  if (isSignedHere(file)) return 'ad-hoc';
  return isExecutable(file) ? 'its own' : 'none';
};

/** The same bytes give the same signature. */
export const sign = (file: Buffer): Buffer => {
  const body = bodyOf(file);
  const firstLine = body.subarray(0, 80).toString('latin1').split('\n')[0] ?? '';
  const comment = firstLine.startsWith('#!') && firstLine.includes('node') ? '//' : '#';
  const digest = createHash('sha256').update(body).digest('hex');
  return Buffer.concat([body, Buffer.from(`\n${comment} adhoc-signature ${digest}\n`)]);
};
