import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rulesFile } from './rules.ts';
import type { InputSeries } from './timeline.ts';

/** promtool repeats its errors for every minute. */
const longest = 1500;

/** Fails with its output. */
const run = async (promtool: string, args: readonly string[]): Promise<void> => {
  const error = await new Promise<string>((resolve) => {
    execFile(promtool, args, { maxBuffer: 16 * 1024 * 1024 }, (error, _, stderr) =>
      resolve(error === null ? '' : stderr || error.message),
    );
  });
  if (error !== '') assert.fail(error.length > longest ? `${error.slice(0, longest)} …` : error);
};

interface Expected {
  readonly exp_labels: Readonly<Record<string, string>>;
  readonly exp_annotations: Readonly<Record<string, string>>;
}

/** The alerts of one name that fire at a minute: exactly these. */
export interface ExpectedAlerts {
  readonly minute: number;
  readonly alert: string;
  readonly firing: readonly Expected[];
}

export interface RuleTest {
  readonly name: string;
  readonly series: readonly InputSeries[];
  readonly expectations: readonly ExpectedAlerts[];
}

/** Rejects with promtool's errors about the file. */
export const checkRules = (promtool: string): Promise<void> => run(promtool, ['check', 'rules', rulesFile]);

/** Rejects with promtool's output when other alerts fire than expected. */
export const testRules = async (promtool: string, tests: readonly RuleTest[]): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-alerts-'));
  const file = join(folder, 'tests.yaml');
  const content = {
    rule_files: [rulesFile],
    evaluation_interval: '1m',
    tests: tests.map(({ name, series, expectations }) => ({
      name,
      interval: '1m',
      input_series: series,
      alert_rule_test: expectations.map(({ minute, alert, firing }) => ({
        eval_time: `${minute}m`,
        alertname: alert,
        exp_alerts: firing,
      })),
    })),
  };
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(content));
  try {
    await run(promtool, ['test', 'rules', file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
