import { basename } from 'node:path';

/** kubectl runs an executable named `kubectl-tartan` for `kubectl tartan`: whoever typed that reads it in every help text. */
export const calledAs = (file: string): string =>
  /^kubectl-tartan(?:\.[a-z]+)?$/.test(basename(file)) ? 'kubectl tartan' : 'tartan';
