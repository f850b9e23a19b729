/** A runner's name as it may be: GitHub refuses longer ones, and `config.sh` says the same. */
const longestName = 64;
const mostLabels = 100;

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** What is wrong with the wish for a runner, or nothing. `runner_group_id` has no default (`docs.rs/runner-manager-github`). */
export const whyNotRunner = (fields: Readonly<Record<string, unknown>>): string | undefined => {
  for (const key of ['name', 'runner_group_id', 'labels']) {
    if (fields[key] === undefined) return `object is missing required key: ${key}`;
  }
  const { name, runner_group_id: group, labels, work_folder: folder } = fields;
  if (!isText(name)) return `${JSON.stringify(name)} is not a name`;
  if (name.length > longestName) return `name is longer than ${longestName} characters`;
  if (!Number.isInteger(group)) return `${JSON.stringify(group)} is not an integer`;
  if (!Array.isArray(labels)) return `${JSON.stringify(labels)} is not an array`;
  if (labels.length < 1 || labels.length > mostLabels) return `labels has not between 1 and ${mostLabels} items`;
  if (!labels.every(isText)) return 'labels has an item that is no text';
  if (folder !== undefined && !isText(folder)) return `${JSON.stringify(folder)} is not a folder`;
  return undefined;
};
