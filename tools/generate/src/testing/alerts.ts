import { parse } from 'yaml';

/** A Prometheus alerting rule of the chart. The chart adds `runbook_url`. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** The rules in a file of rules. `promtool check rules` checks their fields. */
export const alertsIn = (text: string): AlertRule[] =>
  (parse(text) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) => rules);
