import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AlertRule, alertsIn } from '../../../tools/generate/src/testing/alerts.ts';

/** As the chart ships them. */
export const rulesFile = join(import.meta.dirname, '../../../charts/tartan/files/alerts.yaml');
export const rules: readonly AlertRule[] = alertsIn(readFileSync(rulesFile, 'utf8'));

/** The annotations of an alert with these labels and this value. A missing label would leave a gap in a sentence. */
export const annotationsFor = (
  { alert, annotations }: AlertRule,
  labels: Readonly<Record<string, string>>,
  value: number | undefined,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [
      name,
      text.replaceAll(/\{\{ (.+?) \}\}/g, (_, what: string) => {
        const found = what === '$value' ? value : labels[what.replace('$labels.', '')];
        if (found === undefined) throw new Error(`${name} of ${alert} speaks of ${what}, which it does not have`);
        return String(found);
      }),
    ]),
  );
