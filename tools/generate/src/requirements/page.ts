import { generated, row, table } from '../pages/markdown.ts';
import { titlesIn } from './check.ts';
import { changes, type ReadFile, type Requirements, type TestReference } from './requirements.ts';

/** The page about requirements. Links are relative to `docs/`. */

const link = ({ file, title }: TestReference, read: ReadFile): string => {
  const path = titlesIn(read(file) ?? '').find((each) => each.at(-1) === title) ?? [title];
  return `[${path.join(' › ').replaceAll(/[[\]]/g, '\\$&')}](../${file})`;
};

export const requirementsPage = ({ chapters }: Requirements, read: ReadFile): string =>
  [
    generated,
    '',
    '# Requirements, and the tests that show them',
    '',
    'Every row is one thing that the system must do, with the tests that go red when it does not. `npm run check` and `npm test` fail when a',
    'row has no test, or when a test that it names is gone or has another title; rows live in `tools/generate/src/requirements/rows/`.',
    '',
    'Five changes of the original ask for them:',
    '',
    ...table(
      ['change', 'title'],
      Object.entries(changes).map(([number, title]) => row(`tuist/tuist#${number}`, title)),
    ),
    ...chapters.flatMap(({ letter, title, rows }) => [
      '',
      `## ${letter}. ${title}`,
      '',
      ...table(
        ['id', 'what must hold', 'from', 'shown by'],
        rows.map(({ id, title: what, changes: from, tests }) =>
          row(
            id,
            what,
            from.map((number) => `#${number}`).join(', '),
            tests.map((test) => link(test, read)).join('<br>'),
          ),
        ),
      ),
    ]),
    '',
  ].join('\n');
