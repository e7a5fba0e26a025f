echo '[INFO] waiting for the ssh servers of all tasks'
for pinnace_host in $(sed -n 's/^Host \([^*]\)/\1/p' "$HOME/.ssh/config"); do
  until ssh -o BatchMode=yes -o ConnectTimeout=5 "$pinnace_host" true </dev/null 2>"$pinnace_ssh/last"; do
    if [ "$(date +%s)" -ge "$pinnace_deadline" ]; then
      cat "$pinnace_ssh/last"
      echo "[ERROR] the ssh server of $pinnace_host does not answer"
      exit 10
    fi
    sleep 0.2
  done
done
unset pinnace_deadline pinnace_host
