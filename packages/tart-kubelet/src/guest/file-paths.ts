import { configProblem } from './refused.ts';

/** A path of a file in a volume, as the Pod has it. It must stay in there. */
export const pathInVolume = (volume: string, path: string): string => {
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..') && !path.includes('\0');
  if (isPlain) return path;
  throw configProblem(
    `The path ${JSON.stringify(path)} in the volume ${volume} may lead out of it. Write a relative one, without dots for folders.`,
  );
};

/** As the disk of a Mac tells names apart, which is without regard to case. */
const onDisk = (path: string): string => path.normalize('NFC').toLowerCase();

/** Two names for one file would leave one of the two, and nobody could tell which. */
export const assertApart = (volume: string, paths: readonly string[]): void => {
  const files = new Map<string, string>();
  for (const path of paths) {
    const other = files.get(onDisk(path));
    if (other !== undefined)
      throw configProblem(
        `The volume ${volume} has both ${other} and ${path}, which on the disk of a Mac is one file. Rename one of them.`,
      );
    files.set(onDisk(path), path);
  }
  for (const path of paths) {
    const parts = onDisk(path).split('/');
    for (let length = 1; length < parts.length; length += 1) {
      const file = files.get(parts.slice(0, length).join('/'));
      if (file !== undefined)
        throw configProblem(
          `The volume ${volume} has both the file ${file} and ${path} below it. Give one of them another path.`,
        );
    }
  }
};
