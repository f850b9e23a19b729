import { parse } from 'yaml';

/** A Prometheus alerting rule of the chart. Other fields are an error. The chart adds `runbook_url`. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown, where: string, names: readonly string[]): Fields => {
  if (!isFields(value)) throw new Error(`${where}: this is no map of names`);
  const strange = Object.keys(value).filter((name) => !names.includes(name));
  if (strange.length > 0) throw new Error(`${where}: nobody knows ${strange.join(', ')}`);
  return value;
};

const listOf = (value: unknown, where: string): readonly unknown[] => {
  if (!Array.isArray(value) || value.length === 0) throw new Error(`${where}: this is no list`);
  return value;
};

const textOf = (fields: Fields, name: string, where: string): string => {
  const text = fields[name];
  if (typeof text !== 'string' || text === '') throw new Error(`${where}: ${name} is missing`);
  return text;
};

const ruleOf = (value: unknown): AlertRule => {
  const fields = fieldsOf(value, 'a rule', ['alert', 'expr', 'for', 'labels', 'annotations']);
  const alert = textOf(fields, 'alert', 'a rule');
  const labels = fieldsOf(fields['labels'], alert, ['severity']);
  const annotations = fieldsOf(fields['annotations'], alert, ['summary', 'description']);
  return {
    alert,
    expr: textOf(fields, 'expr', alert),
    ...(fields['for'] !== undefined && { for: textOf(fields, 'for', alert) }),
    labels: { severity: textOf(labels, 'severity', alert) },
    annotations: {
      summary: textOf(annotations, 'summary', alert),
      description: textOf(annotations, 'description', alert),
    },
  };
};

/** The rules in a file of rules. Throws for what is not one of ours, with the name of the alert. */
export const alertsIn = (text: string): AlertRule[] =>
  listOf(fieldsOf(parse(text), 'the file', ['groups'])['groups'], 'groups').flatMap((group) => {
    const fields = fieldsOf(group, 'a group', ['name', 'rules']);
    return listOf(fields['rules'], textOf(fields, 'name', 'a group')).map(ruleOf);
  });
