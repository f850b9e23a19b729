import { anchorExists, childAnchors, type Kernel, rulesetOf } from './kernel.ts';
import { printRule } from './print-rule.ts';
import { type Section, sectionOf } from './rule.ts';

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

const rulesOf = (kernel: Kernel, anchor: string, ...sections: readonly Section[]): string =>
  lines(
    sections.flatMap((section) =>
      rulesetOf(kernel, anchor)
        .entries.filter((entry) => sectionOf(entry) === section)
        .map(printRule),
    ),
  );

const allBelow = (kernel: Kernel, parent: string): readonly string[] =>
  childAnchors(kernel, parent).flatMap((child) => [child, ...allBelow(kernel, child)]);

/** `pfctl -s`: text for standard output, and for an anchor that was never loaded the kernel's complaint. */
export const show = (
  kernel: Kernel,
  modifier: string,
  anchor: string,
  verbose: boolean,
): { readonly stdout: string; readonly stderr: string } => {
  const said = (stdout: string) => ({ stdout, stderr: '' });
  const isRules = modifier === 'rules' || modifier === 'nat' || modifier === 'dummynet';
  if (isRules && !anchorExists(kernel, anchor))
    return { stdout: '', stderr: 'pfctl: DIOCGETRULES: Invalid argument\n' };
  switch (modifier) {
    case 'rules':
      return said(rulesOf(kernel, anchor, 'scrub', 'filter'));
    case 'nat':
      return said(rulesOf(kernel, anchor, 'nat', 'binat', 'rdr'));
    case 'dummynet':
      return said(rulesOf(kernel, anchor, 'dummynet'));
    case 'Anchors':
      return said(
        lines((verbose ? allBelow(kernel, anchor) : childAnchors(kernel, anchor)).map((name) => `  ${name}`)),
      );
    case 'Tables':
      return said(lines([...rulesetOf(kernel, anchor).tables.keys()].sort()));
    case 'info':
      return said(`Status: ${kernel.enabled ? 'Enabled' : 'Disabled'} for 0 days 00:00:01           Debug: Urgent\n`);
    case 'References': {
      const head = 'TOKENS:\nPID      Process Name                 TOKEN                    TIMESTAMP\n';
      const rows = [...kernel.references].map(
        ([token, { pid, process }]) =>
          `${String(pid).padEnd(9)}${process.padEnd(29)}${token.padEnd(25)}0 days 00:00:01`,
      );
      return said(rows.length === 0 ? 'No TOKENS.\n' : head + lines(rows));
    }
    default:
      return said('');
  }
};
