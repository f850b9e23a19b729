import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Patterns for the release's version in other files than `package.json`, with the text before and after it. */
const places = {
  npm: [
    /("name": "(?:tartan|@tartan\/[^"]+)",\n +"version": ")[^"]*(")/g,
    // Workspaces depend on each other by their exact version.
    /("@tartan\/[^"]+": ")\d[^"]*(")/g,
  ],
  chart: [/^(version: )\S*()$/gm, /^(appVersion: ")[^"]*(")$/gm],
  image: [/^(LABEL org\.opencontainers\.image\.version=")[^"]*(")$/gm],
} as const;

/** The text with another version in all places of its kind. Throws when a place is missing. */
export const withVersion = (text: string, kind: keyof typeof places, version: string): string =>
  places[kind].reduce((result, place, index) => {
    const isOptional = kind === 'npm' && index > 0;
    if (!isOptional && result.search(place) < 0) throw new Error(`no version is found where ${String(place)} looks`);
    return result.replaceAll(place, (_, before: string, after: string) => `${before}${version}${after}`);
  }, text);

/** Files that repeat the version of `package.json`. Otherwise they are written by hand. */
export const versionedFiles = (root: string): { path: string; content(): string }[] => {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const { version, workspaces }: { version: string; workspaces: string[] } = JSON.parse(read('package.json'));
  const file = (path: string, kind: keyof typeof places) => ({
    path,
    content: () => withVersion(read(path), kind, version),
  });
  return [
    ...workspaces
      .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
      .map((path) => file(path, 'npm')),
    file('package-lock.json', 'npm'),
    file('charts/tartan/Chart.yaml', 'chart'),
    file('image/Dockerfile', 'image'),
  ];
};
