# count.sh FOLDER FILE [--least N] [--title TEXT]
texts=$1 counts=$2
shift 2
least=1 title=
while [ $# -gt 0 ]; do
  case $1 in
    --least) least=$2 ;;
    --title) title=$2 ;;
  esac
  shift 2
done
if [ -n "$title" ]; then echo "$title" > "$counts"; fi
find "$texts" -type f | sort | while read -r file; do
  words=$(wc -w < "$file")
  if [ "$words" -ge "$least" ]; then
    echo "$((words)) ${file#"$texts"/}" >> "$counts"
  fi
done
echo "counted in $(wc -l < "$counts") lines"
